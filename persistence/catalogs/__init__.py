"""Catalogs of heads and banner designs, in rows."""
