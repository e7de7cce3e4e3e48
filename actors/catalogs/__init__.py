"""Catalogs of heads and banner designs: imported by operators, searched by players."""
