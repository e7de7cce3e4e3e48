"""Parties: rows of who is in which, and who is invited."""
