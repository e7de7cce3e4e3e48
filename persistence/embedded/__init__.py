"""PostgreSQL in the box: made, run and stopped by us."""
