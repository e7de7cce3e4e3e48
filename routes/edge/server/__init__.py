"""The HTTP server in clear text."""
