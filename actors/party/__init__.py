"""Parties: players who gather, choose what to play, and get ready together (contract §6)."""
