"""The console: its files as such, over the wire, and in a real browser."""
