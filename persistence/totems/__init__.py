"""Totems as rows."""
