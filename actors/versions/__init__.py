"""Releases of software: what is published, and what clients are to install."""
