"""Whom Gramian is measured beside, one file a package. Each file lists its own as ``PEERS``."""
