"""Parties over REST and live (service-api §4 Party, contract §6)."""
