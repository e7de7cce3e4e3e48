"""Rows of voice: nodes, channels and sessions."""
