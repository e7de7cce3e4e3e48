"""Capes: uploading, moderating, wearing and showing them."""
