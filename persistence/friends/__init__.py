"""Rows of friendships, requests, blocks and flame streaks."""
