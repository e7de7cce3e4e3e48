"""A service whose connections to PostgreSQL are lost at chosen moments, so that nobody knows what became of a change.

proxy  what stands between the two
world  the service
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.proxy import Proxy, open_proxy
from tests.support.waiting import wait_until
from tests.support.world import Player, World, open_world


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[Proxy]:
    async with open_proxy(database_url) as proxy:
        yield proxy


@pytest.fixture
async def world(proxy: Proxy, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(proxy.url, tmp_path) as world:
        yield world


async def lose(
    proxy: Proxy, player: Player, method: str, path: str, body: object = None, *, landed: bool, said: bytes
) -> None:
    """A request whose transaction loses its connection at COMMIT: before PostgreSQL has it, or after.

    Args:
        landed: PostgreSQL has it.
        said: what this transaction has sent before.
    """
    proxy.cut_at(b"COMMIT\0", answered=landed, after=said)
    response = await player.ask(method, path, body, headers={"idempotency-key": "once"})
    assert response.status_code == 503, response.text
    assert response.json()["code"] == "DATABASE_UNAVAILABLE"
    assert response.json()["meta"]["outcome"] == "unknown"


async def settled(world: World) -> None:
    async def asked() -> bool:
        return not any(len(service.reconciler) for service in world.services)

    await wait_until(asked)
    for service in world.services:
        if service.node is not None:
            await service.node.retelling.wait_followed()
