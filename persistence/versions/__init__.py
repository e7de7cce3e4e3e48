"""Releases as rows: what was released, which release a channel points to, and how many clients said what."""
