"""Fetching a free GeoIP database."""
