"""Notifications as rows."""
