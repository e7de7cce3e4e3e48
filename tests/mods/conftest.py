"""Fixtures of the tests of mods."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.mods.play import Catalogues, open_catalogues


@pytest.fixture
async def catalogues(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Catalogues]:
    """A service that asks both catalogues."""
    async with open_catalogues(database_url, tmp_path, monkeypatch) as opened:
        yield opened
