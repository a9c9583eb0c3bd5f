"""Model files, and models in formats that others read."""
