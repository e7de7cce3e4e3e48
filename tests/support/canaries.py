"""Canaries are secrets that must not turn up again: looks for them in all that a service has answered or stored."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import httpx2

from persistence.connection import Connection
from tests.support.world import World


class Overheard:
    """Records everything that the service answers from now on: heads and bodies.

    Args:
        world: the world whose HTTP client is listened to.
    """

    def __init__(self, world: World) -> None:
        self._said: list[tuple[httpx2.Request, str]] = []
        world.http.event_hooks = {"request": [], "response": [self._hear]}

    async def _hear(self, response: httpx2.Response) -> None:
        await response.aread()
        self._said.append((response.request, f"{dict(response.headers)}\n{response.text}"))

    def saying(self, canary: str) -> list[str]:
        """A line for each request whose answer has the canary: method, path, and whether a game server asked."""
        return [
            f"{request.method} {request.url.path}{' (server)' if 'x-server-id' in request.headers else ''}"
            for request, said in self._said
            if canary in said
        ]


def forms(canary: str) -> tuple[str, ...]:
    """The forms that a canary has in a dump: as text, and as PostgreSQL writes bytes."""
    return canary, canary.encode().hex()


def found(canaries: Collection[str], text: str) -> list[str]:
    """The canaries that are in a text."""
    return [canary for canary in canaries if any(form in text for form in forms(canary))]


async def dump(conn: Connection) -> str:
    """Every row of every table, as text; bytes in hexadecimal digits, as `pg_dump` writes them."""
    tables = await conn.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    rows: list[Any] = []
    for table in tables:
        name = table["tablename"]
        rows += await conn.fetch(f'SELECT t::text AS row FROM "{name}" t')
    return "\n".join(row["row"] for row in rows)


def kept_in_files(folder: Path) -> Iterator[str]:
    """The contents of all files of a service, as text."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes().decode("latin-1")
