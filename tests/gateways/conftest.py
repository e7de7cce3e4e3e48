"""Fixtures of the tests of gateways."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateways.play import TOKEN
from tests.support.server import Edge
from tests.support.world import World, open_world


@pytest.fixture
async def world(served_by: Edge, database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A service that takes gateways, with a domain for them."""
    settings = {"gateway_token": TOKEN, "gateway_domain": "play.partyline.test"}
    async with open_world(database_url, tmp_path, edge=served_by, **settings) as world:
        yield world
