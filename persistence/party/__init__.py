"""Parties' rows: their members and invites."""
