"""The command line: one file per verb. It loads neither scikit-learn nor estimators, and nothing before its use."""
