"""The cases, one file a kind. Each file here lists its own as ``CASES`` (and may bring its own ``PEERS``)."""
