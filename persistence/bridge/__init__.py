"""PostgreSQL from trio: asyncpg in a thread of its own."""
