"""Releases of launchers, services, runtimes and extensions: published, rolled out, and resolved for clients."""
