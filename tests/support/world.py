"""A whole service in this process, on a real database and real sockets, and its users.

world  one service, on our server, or with the mark `both_edges` once more on stock Hypercorn; with `--nodes`, several
       nodes that serve as one
"""

import secrets
from collections.abc import AsyncIterator, Callable, Container, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2
import pytest

from actors.change import Change
from actors.friends.between import seen_between
from actors.ids import UserId, Uuid, new_uuid
from persistence.connection import Connection
from persistence.friends import blocks
from persistence.nodes.shards import shard_of
from persistence.users.permissions import add_role
from routes import DOMAINS, create_app
from routes.changes import change_by_itself
from routes.config.config import read_config
from routes.domain import Domain
from routes.service import Service
from routes.startup import open_service
from routes.users.parts import USER_DIRECTORY
from tests.support.http import PlainTransport
from tests.support.in_turn import InTurn, settings_of_nodes, settled
from tests.support.server import Edge, running
from tests.support.shifted_clock import ShiftedClock
from tests.support.spec import Answer, spec
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.warm import WARM
from tests.support.websocket import Client, Refused, connect

CONVERSATIONS = "/v1/social/chat/conversations"

NOBODY_THERE = "http://127.0.0.1:1"
"""A web address at which nothing listens."""


class Player:
    """A user with a token and an HTTP client.

    Args:
        world: the world that they are in.
        id, name: the user's id and name, as the token has them.
        token: the access token; None for somebody who has none.
    """

    def __init__(self, world: "World", id: str, name: str, token: str | None) -> None:
        self.world = world
        self.id = id
        self.name = name
        self.token = token
        self.headers = {} if token is None else {"authorization": f"Bearer {token}"}

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send a request.

        Args:
            body: sent as JSON; None sends none.
            content: a raw body in place of `body`, sent with the media type of JSON.
        """
        sent = {**self.headers, **(headers or {})}
        if content is not None:
            sent.setdefault("content-type", "application/json")
        return await self.world.http.request(method, path, json=body, content=content, headers=sent)

    async def get(self, path: str, **query: object) -> Any:
        """Make a GET, which has to succeed; returns the JSON of the answer."""
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        return await self.do("GET", f"{path}?{asked}" if asked else path, status=200)

    async def do(self, method: str, path: str, body: object = None, *, status: int | None = None) -> Any:
        """Make a request, which has to succeed, with `status` if that is given; returns the JSON of the answer, or
        None."""
        response = await self.ask(method, path, body)
        wanted = {status} if status is not None else {200, 201, 202, 204}
        assert response.status_code in wanted, response.text
        return response.json() if response.content else None

    async def refused(
        self, method: str, path: str, body: object = None, *, content: bytes | None = None
    ) -> tuple[int, str]:
        """Make a request, which has to be refused; returns (status, code)."""
        response = await self.ask(method, path, body, content=content)
        assert response.status_code >= 400, response.text
        return response.status_code, response.json()["code"]

    async def talk_to(self, *others: "Player", kind: str | None = None) -> "Room":
        """Make a conversation with others: a direct one with a single other, else a group."""
        kind = kind or ("direct" if len(others) == 1 else "group")
        body = {"kind": kind, "participantIds": [other.id for other in others]}
        made = await self.do("POST", CONVERSATIONS, body)
        return Room(made["id"])

    async def say(self, room: "Room", content: str = "hello", **more: object) -> Any:
        """Post a message; returns it."""
        return await self.do("POST", room.messages, {"content": content, **more}, status=201)

    def live(self, path: str = "/v1/social/live", **options: Any) -> AbstractAsyncContextManager[Client]:
        """A WebSocket of the user, whose frames are compared with AsyncAPI, and so is the answer that refuses it."""
        plain = path.partition("?")[0]
        heard = spec().frames_of(plain)

        def refused(refusal: Refused) -> None:
            spec().check_handshake(plain, refusal.status, refusal.body)

        return connect(self.world.url + path, token=self.token, heard=heard, refused=refused, **options)


class Room:
    """The addresses of one conversation."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.path = f"{CONVERSATIONS}/{id}"
        self.messages = f"{self.path}/messages"
        self.channel = f"conversation:{id}"

    def message(self, id: str) -> str:
        """The address of a message."""
        return f"{self.messages}/{id}"


class World:
    """A running service.

    Args:
        services: its nodes, nearly always one.
        urls: the address of each node's server.
        clock: the clock of all nodes.
        http: the one HTTP client of all users.

    Attributes:
        service: the first node, for changes that no client can make, and to look into its memory.
    """

    def __init__(
        self, services: Sequence[Service], urls: Sequence[str], clock: ShiftedClock, http: httpx2.AsyncClient
    ) -> None:
        self.services = services
        self.service = services[0]
        self.clock = clock
        self.http = http
        self._urls = cycle(urls)

    @property
    def url(self) -> str:
        """The base address; with several nodes each look returns that of the next one."""
        return next(self._urls)

    async def player(self, name: str, *, ttl_seconds: int = 3600, known: bool = True) -> Player:
        """Make a new user.

        Args:
            name: the user's name.
            ttl_seconds: how long the token is valid.
            known: whether the service knows them already, as after a first request.
        """
        id = new_uuid(secrets.token_bytes)
        token = self.token(id, name, ttl_seconds=ttl_seconds)
        if known:
            await self.service.authenticator.user(token)
        return Player(self, id, name, token)

    async def players(self, *names: str) -> list[Player]:
        """Make several new users, by their names."""
        return [await self.player(name) for name in names]

    def nobody(self) -> Player:
        """Somebody without a token."""
        return Player(self, "", "", None)

    def token(self, id: str, name: str, *, ttl_seconds: int = 3600) -> str:
        """A token for a user."""
        minted = self.service.keys.mint_user_token(
            id, name, now_ms=self.clock.now_ms(), ttl_seconds=ttl_seconds, random_bytes=secrets.token_bytes
        )
        return minted.token

    def home(self, kind: str, id: str) -> Service:
        """The node that owns an actor.

        Args:
            kind: the name of the actor's kind.
            id: the actor's id.
        """
        shard = shard_of(kind, id)
        return next(one for one in self.services if shard in one.placement.held())

    async def everywhere(self, holds: Callable[[Service], bool]) -> None:
        """Wait until a condition holds on all nodes; with a single node it holds at once, or never."""

        async def hold() -> bool:
            return all(map(holds, self.services))

        await wait_until(hold)

    def advance(self, ms: int) -> None:
        """Let so many milliseconds pass for every rule, and have timers of actors ring that are due then."""
        self.clock.advance(ms)
        # Setting the earliest timer makes all of them look at the clock again.
        for service in self.services:
            service.system._runtime.timers.at(0, lambda: None)

    async def grant(self, player: Player, node: str, *, negated: bool = False, value: object = None) -> None:
        """Give a user a permission node, as a super-admin does; with `negated` they never hold it."""
        body: dict[str, object] = {"node": node, "negated": negated}
        if value is not None:
            body["value"] = value
        await (await self.super_admin()).do("POST", f"/v1/admin/users/{player.id}/permissions", body)

    async def super_admin(self) -> Player:
        """Make a user who may do everything, as the command line does."""
        return await self.ranked("Root", "super-admin")

    async def ranked(self, name: str, role: str) -> Player:
        """Make a new user who has a role."""
        player = await self.player(name)
        await self.promote(player, role)
        return player

    async def promote(self, player: Player, role: str) -> None:
        """Give a user a role, as the command line does; all nodes know of it at once."""
        await self.service.database.transact(add_role, player.id, role, self.clock.now_ms())
        for service in self.services:
            service.of(USER_DIRECTORY).changed(player.id)

    async def block(self, one: Player, other: Player, *, blocked: bool = True) -> None:
        """Let one user block another, or end the block; all who watch are told."""
        service = self.service
        now_ms = self.clock.now_ms()

        async def unit(conn: Connection) -> Change[None]:
            if blocked:
                await blocks.put(conn, one.id, other.id, reason="", now_ms=now_ms)
            else:
                await blocks.remove(conn, one.id, other.id)
            return Change(None, (await seen_between(conn, UserId(Uuid(one.id)), UserId(Uuid(other.id))),))

        await change_by_itself(service, unit, about=None)


@asynccontextmanager
async def open_world(
    database_url: str,
    folder: Path,
    *,
    edge: Edge = "lean",
    clock: ShiftedClock | None = None,
    domains: tuple[Domain, ...] = DOMAINS,
    **settings: str,
) -> AsyncIterator[World]:
    """Run a service for the block.

    Args:
        database_url: the address of a fresh database.
        folder: the folder for its files.
        edge: which server serves it.
        clock: the clock of an earlier service, to go on with; None for a new one.
        domains: what it serves.
        settings: settings of the service, {field name: value}.
    """
    clock = clock or ShiftedClock()
    async with AsyncExitStack() as stack:
        services, urls = [], []
        for each in settings_of_nodes(folder, settings):
            config = read_config(_environ(database_url, each))
            service = await stack.enter_async_context(open_service(config, domains, clock, opened=WARM.open))
            urls.append(await stack.enter_async_context(running(create_app(service=service), edge=edge)))
            services.append(service)
        if len(services) > 1:
            await settled(services)
        transport = PlainTransport()
        http = httpx2.AsyncClient(
            base_url=urls[0],
            timeout=PATIENCE_SECONDS,
            event_hooks={"response": [partial(_held, {httpx2.URL(url).netloc for url in urls})]},
            transport=transport if len(urls) == 1 else InTurn(urls, transport),
        )
        yield World(services, urls, clock, await stack.enter_async_context(http))


async def _held(servers: Container[bytes], response: httpx2.Response) -> None:
    """Compare an answer of the service with OpenAPI; answers of other servers are passed over.

    Args:
        servers: host and port of each server of the service.
        response: the answer.
    """
    request = response.request
    if request.url.netloc not in servers:
        return
    headers = {name.lower(): value for name, value in response.headers.items()}
    method, path, body = request.method, request.url.path, await response.aread()
    spec().check(Answer(method=method, path=path, status=response.status_code, headers=headers, body=body))
    if response.is_success:
        sent = {name.lower(): value for name, value in request.headers.items()}
        spec().check_request(method, path, sent, await request.aread())


def _environ(database_url: str, settings: Mapping[str, str]) -> dict[str, str]:
    return {
        "PARTYLINE_DATABASE_URL": database_url,
        # No test uses the Internet.
        "PARTYLINE_MODRINTH_URL": f"{NOBODY_THERE}/v2",
        "PARTYLINE_CURSEFORGE_URL": f"{NOBODY_THERE}/v1",
        # Long deadlines, as a machine that stands still for a while must not make a test fail.
        "PARTYLINE_REQUEST_SECONDS": str(PATIENCE_SECONDS),
        **{f"PARTYLINE_{name.upper()}": value for name, value in settings.items()},
    }


@pytest.fixture
async def world(served_by: Edge, database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """One service; a test with the mark `both_edges` runs on each of the two servers."""
    async with open_world(database_url, tmp_path, edge=served_by) as world:
        yield world
