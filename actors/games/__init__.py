"""Games: a catalog, and how many play each of them now."""
