"""Launchers: what they report, and which hosts they may talk to."""
