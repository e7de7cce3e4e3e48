"""The rows of publications."""
