"""Kernel principal components: exact, on landmarks or in explicit features, and their pre-images."""
