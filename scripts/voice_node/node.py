"""The node as Partyline knows it: it registers, sends heartbeats, and has the orders in their answers carried out."""

from collections.abc import Callable, Collection
from typing import Any, Protocol

import httpx2
import msgspec
import trio

from scripts.game_server.client import Away, Credentials, Rejected, ask, requests_to, understood
from scripts.game_server.pauses import Pauses

WAIT_SECONDS = 5
"""How many seconds a heartbeat waits for orders unless said otherwise. For as long Partyline may not know who has come
or gone."""

MOST_PAUSE_SECONDS = 5.0
"""Longest pause between attempts: a node that is not heard for 30 s loses its channels."""

EVEN_SECONDS = 1.0
"""The pause between two heartbeats that brought no orders and did not wait: the service shuts down, or another process
runs as the same node."""

ROOMS_BYTES = 240 * 1024
"""Most bytes of a heartbeat's list of who is connected: 1,700 rooms of two. Partyline refuses larger ones, and a node
that is not heard loses its channels. Beyond the bound the list is left out; Partyline then ends sessions whose clients
do not sync."""

GOODBYE_SECONDS = 3.0

UNKNOWN = frozenset({401, 404})
"""The status codes that answer a node which Partyline does not know."""


class Unknown(Exception):
    """Partyline does not know this node, or no longer."""


class Unusable(Exception):
    """A file cannot be used; the message says why."""


class Registration(msgspec.Struct, frozen=True):
    """The id and secret of a registered node.

    Args:
        secret: proves that a request comes from the node, and signs the tokens of users.
    """

    node_id: str
    secret: str


class _Made(msgspec.Struct, rename="camel"):
    node_id: str
    node_secret: str


class _Heard(msgspec.Struct):
    cursor: str
    actions: list[dict[str, Any]]


class Media(Protocol):
    """Carries the media of the node's rooms.

    Args:
        protocol: Partyline's name for the way in which media are carried.
        url: the address that clients connect to.
    """

    protocol: str
    url: str

    def known(self) -> Registration | None:
        """The registration that was kept from an earlier run; None where there is none, or none is kept.

        Raises:
            OSError, Unusable: what is kept cannot be read, or there is no place for it.
        """
        ...

    async def carry(self, node: Registration, task_status: trio.TaskStatus[None]) -> None:
        """Let in clients with tokens of this node, until cancelled."""
        ...

    async def report(self) -> list[dict[str, Any]]:
        """Who is connected, as heartbeats say it.

        Raises:
            httpx2.HTTPError: what carries the media does not answer, or refuses.
        """
        ...

    def muted(self) -> Collection[tuple[str, str]]:
        """(channel id, user id) of the users whom Partyline has muted, connected or not."""
        ...

    async def obey(self, action: dict[str, Any]) -> None:
        """Carry out one of Partyline's orders; doing that again does no harm.

        Raises:
            httpx2.HTTPError: what carries the media does not answer, or refuses.
        """
        ...


class Plan(msgspec.Struct, frozen=True):
    """How the node is run.

    Args:
        url: the address of Partyline.
        credentials: the credentials of the game server that registers the node.
        region: the region's name, such as `eu-west`.
        capacity: most clients at the same time.
        wait_seconds: how long a heartbeat waits for orders.
    """

    url: str
    credentials: Credentials
    region: str
    capacity: int
    wait_seconds: int = WAIT_SECONDS


class VoiceNode:
    """A voice node.

    Args:
        plan: how the node is run.
        media: carries the media.
        say: tells the person at the terminal.
    """

    def __init__(self, plan: Plan, media: Media, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._media = media
        self._say = say

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled. A node whose registration is not kept is removed then; another one stays registered, and
        counts as silent.

        Raises:
            Rejected: registering is refused.
            Unknown: Partyline has removed the node.
            OSError, Unusable: what is kept cannot be read, or there is no place for it.
        """
        async with requests_to(self._plan.url) as http:
            kept = self._media.known()
            node = kept or await self._register(http)
            self._say(f"node {node.node_id} at {self._media.url}")
            try:
                async with trio.open_nursery() as nursery:
                    await nursery.start(self._media.carry, node)
                    task_status.started()
                    await self._stay(http, node)
            finally:
                if self._media.known() is None:
                    await self._leave(http, node)

    async def _register(self, http: httpx2.AsyncClient) -> Registration:
        plan = self._plan
        body = {
            "region": plan.region,
            "publicUrl": self._media.url,
            "capacity": plan.capacity,
            "protocol": self._media.protocol,
        }
        pauses = Pauses(self._say, MOST_PAUSE_SECONDS)
        while True:
            try:
                answer = await ask(
                    http, "POST", "/v1/social/voice/nodes/register", body, plan.credentials.headers
                )
                made = understood(answer, _Made)
            except Away as away:
                await pauses.after(away)
            else:
                return Registration(made.node_id, made.node_secret)

    async def _leave(self, http: httpx2.AsyncClient, node: Registration) -> None:
        """Remove the node, so that its channels move at once, and it does not count against the bound on a server's
        nodes."""
        with trio.move_on_after(GOODBYE_SECONDS, shield=True):
            try:
                await ask(http, "DELETE", f"/v1/social/voice/nodes/{node.node_id}", None, _headers(node))
            except Away as away:
                self._say(f"the node stays registered: {away}")
            except Rejected as rejected:
                if rejected.status not in UNKNOWN:  # else it is removed already
                    self._say(f"the node stays registered: {rejected}")

    async def _stay(self, http: httpx2.AsyncClient, node: Registration) -> None:
        """Send heartbeats. While what carries the media does not answer, none are sent, so that Partyline moves the
        node's channels."""
        cursor: str | None = None
        pauses = Pauses(self._say, MOST_PAUSE_SECONDS)
        while True:
            began_at = trio.current_time()
            try:
                heard = await self._beat(http, node, await self._media.report(), cursor)
                for action in [*self._over(heard, cursor), *heard.actions]:
                    await self._media.obey(action)
            except httpx2.HTTPError as error:  # from what carries the media
                await pauses.after(Away(str(error) or type(error).__name__))
            except Away as away:
                await pauses.after(away)
            else:
                cursor = heard.cursor
                pauses.end()
                if not heard.actions and trio.current_time() < began_at + EVEN_SECONDS:
                    await trio.sleep(EVEN_SECONDS)

    def _over(self, heard: _Heard, cursor: str | None) -> list[dict[str, Any]]:
        """The orders that end mutes which were taken back while the node did not hear of it. Partyline has orders in
        memory alone; the first answer from another memory (after a restart, from another node) repeats all that still
        hold, so a mute that is missing there has ended.
        """
        if cursor is None or _memory(cursor) == _memory(heard.cursor):
            return []
        still = {(one["channelId"], one.get("userId")) for one in heard.actions if one["kind"] == "mute"}
        return [
            {"kind": "unmute", "channelId": room, "userId": identity}
            for room, identity in sorted(self._media.muted())
            if (room, identity) not in still
        ]

    async def _beat(
        self, http: httpx2.AsyncClient, node: Registration, rooms: list[dict[str, Any]], cursor: str | None
    ) -> _Heard:
        count = sum(len(room["participants"]) for room in rooms)
        body = {
            "participants": count,
            "channels": len(rooms),
            "load": min(1.0, count / self._plan.capacity),
            "draining": False,
            "rooms": rooms if len(msgspec.json.encode(rooms)) <= ROOMS_BYTES else None,
            "ack": cursor,
            "waitSeconds": self._plan.wait_seconds,
        }
        path = f"/v1/social/voice/nodes/{node.node_id}/heartbeat"
        try:
            return understood(await ask(http, "POST", path, body, _headers(node)), _Heard)
        except Rejected as rejected:
            if rejected.status in UNKNOWN:
                raise Unknown(f"Partyline does not know the node {node.node_id}") from None
            raise Away(f"Partyline says no: {rejected}") from None


def _memory(cursor: str) -> str:
    """The part of a cursor that names the memory of orders it counts in."""
    return cursor.partition(".")[0]


def _headers(node: Registration) -> dict[str, str]:
    return {"authorization": f"Bearer {node.secret}", "x-node-id": node.node_id}
