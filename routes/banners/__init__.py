"""Banners that users design, and the pictures of all banners."""
