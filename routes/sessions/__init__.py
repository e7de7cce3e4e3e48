"""Signing in with a browser: sessions, one-time links, other issuers, and the cookie that all of it stands on."""
