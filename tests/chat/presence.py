"""Whom a player sees online in a conversation, at each of the places where chat shows it."""

from typing import Any

from tests.support.websocket import Client
from tests.support.world import CONVERSATIONS, Player, Room


def shown(participants: Any) -> dict[str, bool]:
    """{name: online} of participants."""
    return {one["name"]: one["online"] for one in participants}


async def seen(viewer: Player, room: Room) -> dict[str, bool]:
    """{name: online} as requests answer it; all of them agree."""
    one = shown((await viewer.get(room.path))["participants"])
    (listed,) = [it for it in (await viewer.get(CONVERSATIONS))["items"] if it["id"] == room.id]
    assert shown(listed["participants"]) == one
    assert shown((await viewer.get(room.messages))["conversation"]["participants"]) == one
    assert shown((await viewer.get(f"{room.path}/participants"))["items"]) == one
    renamed = await viewer.do("PATCH", room.path, {"muted": False})
    assert shown(renamed["participants"]) == one
    return one


async def online(viewer: Player, room: Room, other: Player) -> bool:
    """Whether the viewer sees the other online there."""
    return (await seen(viewer, room))[other.name]


async def until_seen(socket: Client, channel: str, name: str, *, online: bool | None) -> None:
    """Read frames of a live socket until a channel shows somebody so; None: until it does not show them at all."""
    while True:
        frame = await socket.receive_until(type="snapshot", channel=channel)
        if _in_frame(frame["data"], name) == online:
            return


def _in_frame(data: Any, name: str) -> bool | None:
    """Whether a frame shows somebody online; None where it does not show them."""
    if "friends" in data:
        return shown(data["friends"]).get(name)
    if "party" in data:
        return shown((data["party"] or {"members": ()})["members"]).get(name)
    if "conversations" in data:
        return next((shown(one["participants"]).get(name) for one in data["conversations"]), None)
    return shown(data["conversation"]["participants"]).get(name)
