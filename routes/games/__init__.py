"""Routes of games: the catalog, and how many play each of them now."""
