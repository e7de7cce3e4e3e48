"""The node as Partyline knows it: registers, says how it is, and has done what it is told."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Protocol

import httpx2
import msgspec
import trio

WAIT_SECONDS = 5
"""How long a heartbeat waits unless said otherwise; so long, too, who comes and goes may be unknown to Partyline."""

PAUSE_SECONDS = 2.0
"""Until the next attempt, where somebody does not answer."""


class Unknown(Exception):
    """Partyline does not know this node, or no longer."""


class Registration(msgspec.Struct, frozen=True):
    """Who the node is.

    Args:
        secret: proves it, and signs the tokens of users.
    """

    node_id: str
    secret: str


class Media(Protocol):
    """What carries the media.

    Args:
        protocol: as Partyline knows it.
        url: where clients connect.
    """

    protocol: str
    url: str

    def known(self) -> Registration | None:
        """As whom the node has registered before; None where it has not."""
        ...

    async def carry(self, node: Registration, task_status: trio.TaskStatus[None]) -> None:
        """Take the tokens of this node, until cancelled."""
        ...

    async def report(self) -> list[dict[str, Any]]:
        """Who is connected, as heartbeats say it.

        Raises:
            httpx2.HTTPError: it cannot be asked.
        """
        ...

    async def obey(self, action: dict[str, Any]) -> None:
        """Do what Partyline has said; again does no harm.

        Raises:
            httpx2.HTTPError: it cannot be told.
        """
        ...


class Plan(msgspec.Struct, frozen=True):
    """How the node is run.

    Args:
        url: where Partyline is.
        headers: the credentials of the game server that registers it.
        capacity: clients at the same time.
        wait_seconds: how long a heartbeat waits for something to do.
    """

    url: str
    headers: dict[str, str]
    region: str
    capacity: int
    wait_seconds: int = WAIT_SECONDS


class VoiceNode:
    """A voice node.

    Args:
        say: tells the person at the terminal.
    """

    def __init__(self, plan: Plan, media: Media, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._media = media
        self._say = say

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled; then it drains no one, and Partyline finds it silent.

        Raises:
            httpx2.HTTPError: registering has failed.
            Unknown: Partyline has removed it.
        """
        async with httpx2.AsyncClient(base_url=self._plan.url, timeout=WAIT_SECONDS + 10) as http:
            node = self._media.known() or await self._register(http)
            self._say(f"node {node.node_id} at {self._media.url}")
            async with trio.open_nursery() as nursery:
                await nursery.start(self._media.carry, node)
                task_status.started()
                await self._stay(http, node)

    async def _register(self, http: httpx2.AsyncClient) -> Registration:
        plan = self._plan
        body = {
            "region": plan.region,
            "publicUrl": self._media.url,
            "capacity": plan.capacity,
            "protocol": self._media.protocol,
        }
        answer = await http.post("/v1/social/voice/nodes/register", json=body, headers=plan.headers)
        answer.raise_for_status()
        made = answer.json()
        return Registration(made["nodeId"], made["nodeSecret"])

    async def _stay(self, http: httpx2.AsyncClient, node: Registration) -> None:
        """Send heartbeats. Where the media cannot be asked there are none, so that Partyline moves its channels."""
        cursor: str | None = None
        while True:
            try:
                heard = await self._beat(http, node, await self._media.report(), cursor)
                for action in heard["actions"]:
                    await self._media.obey(action)
                cursor = heard["cursor"]
            except httpx2.HTTPError as error:
                self._say(f"no answer: {error}")
                await trio.sleep(PAUSE_SECONDS)

    async def _beat(
        self, http: httpx2.AsyncClient, node: Registration, rooms: list[dict[str, Any]], cursor: str | None
    ) -> Any:
        count = sum(len(room["participants"]) for room in rooms)
        body = {
            "participants": count,
            "channels": len(rooms),
            "load": min(1.0, count / self._plan.capacity),
            "draining": False,
            "rooms": rooms,
            "ack": cursor,
            "waitSeconds": self._plan.wait_seconds,
        }
        headers = {"authorization": f"Bearer {node.secret}", "x-node-id": node.node_id}
        answer = await http.post(
            f"/v1/social/voice/nodes/{node.node_id}/heartbeat", json=body, headers=headers
        )
        if answer.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND}:
            raise Unknown(f"Partyline does not know the node {node.node_id}")
        answer.raise_for_status()
        return answer.json()
