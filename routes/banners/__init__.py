"""Banners: what users design, and its picture."""
