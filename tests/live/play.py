"""What tests of the live socket share."""

from typing import Any

from tests.support.websocket import Client
from tests.support.world import Room


async def subscribe(socket: Client, room: Room, *, since: Any = None, **params: object) -> Any:
    """Subscribe; returns the reply."""
    command: dict[str, Any] = {"id": "s", "op": "subscribe", "channel": room.channel, "params": params}
    if since is not None:
        command["since"] = since
    await socket.send_json(command)
    reply = await socket.receive_until(type="reply", id="s")
    assert reply["ok"], reply
    return reply
