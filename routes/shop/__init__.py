"""The shop: catalog, checkouts, purchases, and what payment providers tell (contract §10)."""
