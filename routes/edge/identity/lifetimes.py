"""Lifetimes of tokens, apart from `keys.py`, whose libraries take long to import."""

TOKEN_TTL_SECONDS = 30 * 86_400
"""Default lifetime of a user token."""
