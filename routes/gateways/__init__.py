"""Gateways: their own routes, and those of admins and servers that ask about them."""
