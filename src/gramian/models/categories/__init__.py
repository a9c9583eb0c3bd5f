"""Multiple correspondence analysis and factor analysis of mixed data: principal components of coded categories."""
