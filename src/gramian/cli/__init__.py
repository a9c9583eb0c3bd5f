"""The command line: one file a verb. It loads neither scikit-learn nor an estimator, nor anything too soon."""
