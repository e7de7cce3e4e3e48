"""Connections over TLS, served by Hypercorn's protocols."""
