"""The same for connections over TLS, by Hypercorn's protocols."""
