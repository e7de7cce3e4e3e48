"""The rows of games: the catalog, and which listed publications name a game."""
