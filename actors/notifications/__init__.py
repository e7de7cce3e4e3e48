"""Notifications of a user: what they see of them, and the view that keeps them live."""
