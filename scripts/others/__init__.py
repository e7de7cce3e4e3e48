"""`scripts/interop`: programs of other projects against a running service of ours."""
