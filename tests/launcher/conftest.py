"""Fixtures of the tests of launchers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.server import Edge
from tests.support.world import World, open_world


@pytest.fixture
async def world(served_by: Edge, database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """One service, whose settings name the real catalogues of mods. It is not made to ask them."""
    catalogues = {
        "modrinth_url": "https://api.modrinth.com/v2",
        "curseforge_url": "https://api.curseforge.com/v1",
    }
    async with open_world(database_url, tmp_path, edge=served_by, **catalogues) as world:
        yield world
