"""Geolocation of IP addresses."""
