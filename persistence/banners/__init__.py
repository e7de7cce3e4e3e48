"""Banners that users have designed, in rows."""
