"""A service whose connections to PostgreSQL are lost at chosen moments, so that the outcome of a change is unknown.

proxy  the proxy between the service and PostgreSQL
world  the service
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.proxy import Proxy, open_proxy
from tests.support.waiting import wait_until
from tests.support.world import Player, World, open_world

MARK = "of-unknown-outcome"
"""A text that the transaction of the change sends to PostgreSQL, and no other transaction."""


@dataclass(frozen=True)
class Lost:
    """A request whose outcome is to be unknown; each domain has its own in `tests/<domain>/lost.py`.

    Args:
        caller, method, path, body: the request.
        made: returns how many of the things that the request makes a reader finds.
        said: bytes that only its transaction sends to PostgreSQL before COMMIT.
        before: how many such things there were before.
    """

    caller: Player
    method: str
    path: str
    body: object
    made: Callable[[], Awaitable[int]]
    said: bytes = MARK.encode()
    before: int = 0


def counted(reader: Player, path: str) -> Callable[[], Awaitable[int]]:
    """A function that counts the items in the first list of the answer to a GET.

    Args:
        reader: the player who asks.
        path: the path of the GET.
    """

    async def made() -> int:
        answer = await reader.get(path)
        return len(next(value for value in answer.values() if isinstance(value, list)))

    return made


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
    """Make a request whose transaction loses its connection at COMMIT: before PostgreSQL has got that, or after.

    Args:
        landed: whether PostgreSQL gets the COMMIT.
        said: bytes that only this transaction sends before it.
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
