"""Publications over HTTP."""
