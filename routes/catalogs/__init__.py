"""Catalogs of heads and banner designs: lists, searches, draws."""
