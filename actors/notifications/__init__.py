"""A user's notifications: what clients see of them, and the live view."""
