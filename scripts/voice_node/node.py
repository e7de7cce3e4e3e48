"""The node: registers, says how it is, does what it is told, and serves clients."""

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx2
import msgspec
import trio

from scripts.voice_node.rooms import Rooms
from scripts.voice_node.sockets import serve

WAIT_SECONDS = 5
"""How long a heartbeat waits unless said otherwise; so long, too, who comes and goes may be unknown to Partyline."""

PAUSE_SECONDS = 2.0
"""Until the next attempt, where Partyline does not answer."""


class Plan(msgspec.Struct, frozen=True):
    """How the node is run.

    Args:
        url: where Partyline is.
        headers: the credentials of the game server that registers it.
        host, port: where clients connect; 0 for any port.
        capacity: clients at the same time.
        wait_seconds: how long a heartbeat waits for something to do.
    """

    url: str
    headers: dict[str, str]
    host: str
    port: int
    region: str
    capacity: int
    wait_seconds: int = WAIT_SECONDS


class VoiceNode:
    """A voice node.

    Args:
        say: tells the person at the terminal.
    """

    def __init__(self, plan: Plan, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._say = say
        self.rooms = Rooms(say)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled; then it drains no one, and Partyline finds it silent.

        Raises:
            httpx2.HTTPError: registering has failed.
        """
        plan = self._plan
        async with httpx2.AsyncClient(base_url=plan.url, timeout=WAIT_SECONDS + 10) as http:
            listeners = await trio.open_tcp_listeners(plan.port, host=plan.host)
            port = listeners[0].socket.getsockname()[1]
            made = await self._register(http, port)
            node_id, secret = made["nodeId"], made["nodeSecret"]
            self._say(f"node {node_id} at ws://{plan.host}:{port}")
            async with trio.open_nursery() as nursery:
                handler = partial(serve, rooms=self.rooms, key=node_id, secret=secret)
                await nursery.start(trio.serve_listeners, handler, listeners)
                task_status.started()
                await self._beat(http, node_id, secret)

    async def _register(self, http: httpx2.AsyncClient, port: int) -> Any:
        plan = self._plan
        body = {
            "region": plan.region,
            "publicUrl": f"ws://{plan.host}:{port}",
            "capacity": plan.capacity,
            "protocol": "partyline",
        }
        answer = await http.post("/v1/social/voice/nodes/register", json=body, headers=plan.headers)
        answer.raise_for_status()
        return answer.json()

    async def _beat(self, http: httpx2.AsyncClient, node_id: str, secret: str) -> None:
        headers = {"authorization": f"Bearer {secret}", "x-node-id": node_id}
        cursor: str | None = None
        while True:
            rooms = self.rooms.report()
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
            try:
                answer = await http.post(
                    f"/v1/social/voice/nodes/{node_id}/heartbeat", json=body, headers=headers
                )
                answer.raise_for_status()
            except httpx2.HTTPError as error:
                self._say(f"no answer to a heartbeat: {error}")
                await trio.sleep(PAUSE_SECONDS)
                continue
            heard = answer.json()
            for action in heard["actions"]:
                self.rooms.obey(action)
            cursor = heard["cursor"]
