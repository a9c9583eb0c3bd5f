"""Fitted models: frozen values, and the functions that fit them."""
