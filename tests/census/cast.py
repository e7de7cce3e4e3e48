"""Who is in a life, and what a life is."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.support.websocket import Client
from tests.support.world import Player, World


@dataclass(frozen=True)
class Cast:
    """Who is in a life.

    Args:
        root: a super-admin.
        mod: a moderator.
        ann, ben: two users.
        sockets: {id of a user: their open socket}, of Ann and of the super-admin.
        number: tells this life's names from those of others, where two things must not be called the same.

    Attributes:
        seen: the names of the channels that were subscribed to.
    """

    world: World
    root: Player
    mod: Player
    ann: Player
    ben: Player
    sockets: dict[str, Client]
    number: int
    seen: set[str] = field(default_factory=set)

    async def sees(self, channel: str, *, by: Player | None = None, **params: object) -> None:
        """Have somebody subscribe to a channel, and see its first snapshot; it is Ann unless another is named."""
        socket = self.sockets[(by or self.ann).id]
        await socket.send_json({"id": channel, "op": "subscribe", "channel": channel, "params": params})
        reply = await socket.receive_until(type="reply", id=channel)
        assert reply["ok"], reply
        await socket.receive_until(type="snapshot", channel=channel)
        self.seen.add(channel.partition(":")[0])


Life: TypeAlias = Callable[[Cast], Awaitable[None]]
"""What somebody does in one domain."""
