"""Releases: written by publishers, resolved and downloaded by clients (contract §10)."""
