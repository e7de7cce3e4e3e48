"""Fixtures that every test may ask for."""

import pytest

from tests.support.database import database, database_url, postgres_server

__all__ = ["database", "database_url", "postgres_server"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first, so that no process is left alone with it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
