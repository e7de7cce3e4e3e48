"""The HTTP server for cleartext connections, and the Quart application."""
