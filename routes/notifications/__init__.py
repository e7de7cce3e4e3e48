"""Notifications of users: the list, and the live channel (contract §5)."""
