"""The tables, and whether a database is fit for them."""
