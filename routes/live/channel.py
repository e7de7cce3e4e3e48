"""What a channel of `/v1/social/live` is: a name, a gate, and the actor or view behind it.

A domain declares its channels as records (`routes/chat/channels.py`) and adds them to the table in
`channels.py`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from actors.bounds import Bigint
from actors.errors import NotFound
from actors.ids import UserId
from actors.kernel.kind import Kind, View
from routes.edge.principal import Access
from routes.part import Opened

MAX_NAME_LENGTH = 200
"""Characters of a channel's name; all that exist are shorter than 60."""

ChannelName = Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)]
"""`inbox`, or `conversation:<id>`."""


class SubscribeParams(msgspec.Struct, frozen=True, rename="camel"):
    """How a channel is to be shown; what a channel has no use for is ignored.

    Args:
        mode: `snapshot` for the newest whole state after each change, `delta` for one event each.
        limit: messages in a conversation's snapshot, clamped to 1..120.
        include_archived: a conversation's older history is merged in.
        interval: seconds, clamped to 1..60; nothing here polls, so it changes nothing (contract §9).
    """

    mode: Literal["snapshot", "delta"] = "snapshot"
    limit: Bigint = 50
    include_archived: bool = True
    interval: Bigint | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LiveChannel:
    """One sort of channel.

    Args:
        name: the whole name, or what stands before the colon.
        needs: the permission node that a viewer must hold, now and as long as they watch; None = none beside the
            socket's own.
        needs_too: further nodes.
        shown: the owner or view behind it.
        viewer: who watches, as that actor's `audience` takes it.
        id_of: the id in the name, checked and in lower case; None when it is malformed. Where this is left
            out, the name has no id, and the channel is the user's own.
        missing: what a malformed or unknown id is refused with.
        by_default: subscribed on connect (contract §9).
        prepare: what memory must have learned of the viewer before they watch; raises PersistenceError.
    """

    name: str
    needs: str | None
    shown: Callable[[Opened], Kind[Any, Any] | View[Any]]
    viewer: Callable[[UserId, SubscribeParams], object]
    id_of: Callable[[str], str | None] | None = None
    missing: type[NotFound] = NotFound
    by_default: bool = False
    needs_too: tuple[str, ...] = ()
    prepare: Callable[[Opened, UserId], Awaitable[None]] | None = None

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node that a viewer must hold."""
        return self.needs_too if self.needs is None else (self.needs, *self.needs_too)

    def open_to(self, access: Access) -> bool:
        """Whether somebody with these rights may watch."""
        return all(access.allows(node) for node in self.nodes)

    def name_of(self, actor_id: str) -> str:
        """The channel's name on the wire, for the actor that it shows."""
        return self.name if self.id_of is None else f"{self.name}:{actor_id}"
