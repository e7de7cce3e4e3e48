"""`scripts/interop`: programs of others against a running service of ours."""
