"""Saved public servers."""
