"""Notifications: rows, the view and its replay, the routes; reports beside them."""
