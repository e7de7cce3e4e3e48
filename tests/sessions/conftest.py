"""The whole service, alone and with issuers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.sessions.place import Place, placed
from tests.support.world import world

__all__ = ["world"]


@pytest.fixture
async def place(database_url: str, tmp_path: Path) -> AsyncIterator[Place]:
    async with placed(database_url, tmp_path) as place:
        yield place
