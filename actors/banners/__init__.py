"""Banners: their designs, and the pictures that are drawn of them."""
