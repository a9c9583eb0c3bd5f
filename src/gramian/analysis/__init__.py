"""One table, analyzed once: from its columns to a model, distances, rows to show and findings, as one frozen value."""
