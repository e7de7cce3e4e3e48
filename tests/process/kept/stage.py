"""A program that writers write to and that is killed meanwhile, with what the tests' helpers need of a world."""

import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from random import Random
from typing import Any

import httpx2
import trio

from actors.ids import new_uuid
from routes.edge.identity.keys import Keys, open_keys
from tests.support.http import PlainTransport
from tests.support.process import ServerProcess, started
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.world import Player

RETRY_SECONDS = 0.02


class Stage:
    """A running program. It stands in for a `World` where helpers of the tests only send requests.

    Args:
        server: the program, which runs.
        http: the one client of everybody.
        seed: draws everything that is not an id.

    Attributes:
        up: whether the program is there; another event after each kill.
        acks: how many writes were acknowledged.
        unknown: how often there was no answer to a write.
        refused: how often it was a 503.
        heals: whether memory may be behind the rows for a moment, as PostgreSQL went away beneath it.
        answers_all: whether a write without an answer is none: the program ends well.
        stopping: whether writers are to finish.
    """

    def __init__(self, server: ServerProcess, http: httpx2.AsyncClient, seed: int) -> None:
        self.server, self.http, self.rng = server, http, Random(seed)
        self.up = trio.Event()
        self.acknowledged = trio.Condition()
        self.acks = self.unknown = self.refused = 0
        self.answers_all = self.heals = False
        self.stopping = False
        self._gate, self._at_gate = trio.Event(), 0
        self._gate.set()
        self._keys: Keys = open_keys(server.data_dir)
        self._words = count(1)
        self._root: Player | None = None

    @property
    def url(self) -> str:
        """The base address."""
        return self.server.url

    def word(self, before: str = "w") -> str:
        """A word that stands nowhere else, and is no part of another one."""
        return f"{before}{next(self._words):05d}q"

    async def player(self, name: str) -> Player:
        """Make a new user."""
        id = new_uuid(secrets.token_bytes)
        minted = self._keys.mint_user_token(
            id, name, now_ms=time.time_ns() // 1_000_000, ttl_seconds=3600, random_bytes=secrets.token_bytes
        )
        made = Player(self, id, name, minted.token)  # type: ignore[arg-type]
        await made.get("/v1/auth/verify")
        return made

    async def players(self, *names: str) -> list[Player]:
        """Make several new users, by their names."""
        return [await self.player(name) for name in names]

    def nobody(self) -> Player:
        """Somebody without a token."""
        return Player(self, "", "", None)  # type: ignore[arg-type]

    async def super_admin(self) -> Player:
        """The one super-admin."""
        if self._root is None:
            token = await self.server.token("Root", "--role=super-admin")
            self._root = Player(self, "", "Root", token)  # type: ignore[arg-type]
            self._root.id = (await self._root.get("/v1/auth/verify"))["userId"]
        return self._root

    async def grant(self, player: Player, node: str) -> None:
        """Give a user a permission node."""
        await (await self.super_admin()).do(
            "POST", f"/v1/admin/users/{player.id}/permissions", {"node": node}
        )

    async def ranked(self, name: str, role: str) -> Player:
        """Make a new user who has a role."""
        made = await self.player(name)
        await (await self.super_admin()).do("PUT", f"/v1/admin/users/{made.id}/roles/{role}")
        return made

    async def acknowledge(self) -> None:
        """Count one more acknowledged write."""
        async with self.acknowledged:
            self.acks += 1
            self.acknowledged.notify_all()

    async def after(self, acks: int) -> None:
        """Return once so many more writes were acknowledged."""
        goal = self.acks + acks
        async with self.acknowledged:
            while self.acks < goal:
                await self.acknowledged.wait()

    async def pass_gate(self) -> None:
        """Wait with a write while writers are gathered."""
        self._at_gate += 1
        await self._gate.wait()
        self._at_gate -= 1

    async def gather(self, writers: int) -> None:
        """Have so many writers begin to write at the same moment."""
        self._gate = trio.Event()
        await wait_until(lambda: self._are_there(writers))
        self._gate.set()

    async def _are_there(self, writers: int) -> bool:
        return self._at_gate == writers

    async def answered(self, send: Callable[[], Any]) -> httpx2.Response:
        """The answer to a request that changes nothing, asked for until there is one."""
        with trio.fail_after(PATIENCE_SECONDS):
            while True:
                await self.up.wait()
                try:
                    answer: httpx2.Response = await send()
                except httpx2.TransportError:
                    await trio.sleep(RETRY_SECONDS)
                    continue
                if answer.status_code != 503:
                    return answer
                await trio.sleep(RETRY_SECONDS)


@asynccontextmanager
async def staged(server: ServerProcess, seed: int) -> AsyncIterator[Stage]:
    """Run a program for the block.

    Args:
        server: the program, which does not run yet.
        seed: as for `Stage`.
    """
    async with (
        started(server),
        httpx2.AsyncClient(
            base_url=server.url, timeout=PATIENCE_SECONDS, transport=PlainTransport()
        ) as client,
    ):
        stage = Stage(server, client, seed)
        stage.up.set()
        yield stage


def plain(answer: httpx2.Response, soft: frozenset[str]) -> str:
    """What an answer says, as a text that is the same whenever it says the same.

    Args:
        answer: JSON or a file.
        soft: the names of fields that are left out, as they are promised to nobody.
    """
    if "json" not in answer.headers.get("content-type", ""):
        return f"{answer.status_code} {answer.content.hex()}"
    return (
        f"{answer.status_code} {json.dumps(_hard(answer.json(), soft), sort_keys=True, ensure_ascii=False)}"
    )


def _hard(value: Any, soft: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {name: _hard(one, soft) for name, one in value.items() if name not in soft}
    if isinstance(value, list):
        return [_hard(one, soft) for one in value]
    return value
