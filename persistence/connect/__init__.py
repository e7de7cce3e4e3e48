"""The rows of game servers."""
