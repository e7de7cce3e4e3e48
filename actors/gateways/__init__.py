"""Gateways: who carries players to game servers, and which routes they are given."""
