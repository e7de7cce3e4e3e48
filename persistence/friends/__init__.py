"""Rows of friendships, requests and blocks."""
