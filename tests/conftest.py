"""Fixtures that every test may ask for."""

from tests.support.database import database, database_url, postgres_server

__all__ = ["database", "database_url", "postgres_server"]
