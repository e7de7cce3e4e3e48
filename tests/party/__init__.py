"""Parties."""
