"""Gateways, in rows."""
