"""The shop as rows: products, checkouts, purchases, what was bought, and what payment providers have told."""
