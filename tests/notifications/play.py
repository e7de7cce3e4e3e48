"""What tests of notifications share."""

from typing import Any

import msgspec

from actors.ids import new_object_id
from actors.notifications.view import NOTIFICATIONS
from persistence.notifications.notifications import NewNotification, add
from tests.support.websocket import Client
from tests.support.world import Player, World

LIST, READ = "/v1/notifications", "/v1/notifications/read"


async def notify(world: World, player: Player, *numbers: int, kind: str = "friend_accepted") -> list[str]:
    """Notify a player as a domain does, once for each number; returns the notifications' ids."""
    service = world.service
    now_ms = world.clock.now_ms()
    rows = [
        NewNotification(
            new_object_id(now_ms, service.random_bytes),
            player.id,
            kind,
            None,
            msgspec.json.encode({"n": number}),
            now_ms,
        )
        for number in numbers
    ]
    await service.database.transact(add, rows)
    service.system.changed(NOTIFICATIONS, player.id, "notifications")
    return [row.id for row in rows]


def numbers(items: list[Any]) -> list[int]:
    return [item["data"]["n"] for item in items]


async def opened(client: Client, *, since: Any = None, mode: str = "delta") -> Any:
    """Subscribe; returns the reply."""
    command: dict[str, Any] = {
        "id": 1, "op": "subscribe", "channel": "notifications", "params": {"mode": mode},
    }  # fmt: skip
    if since is not None:
        command["since"] = {"epoch": since[0], "offset": since[1]}
    await client.send_json(command)
    return await client.receive_until(type="reply")
