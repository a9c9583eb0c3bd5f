"""Kernel PCA beside scikit-learn's: ``python -m benchmarks.kernel_pca [part ...]``."""
