"""Probabilistic PCA, and tables with missing values."""
