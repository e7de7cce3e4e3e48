"""What a channel of `/v1/social/live` is: a name, permission nodes, and the actor or view that it shows.

A domain declares its channels as records (`routes/chat/channels.py`) and lists them in its Domain record.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from actors.bounds import Bigint
from actors.errors import NotFound
from actors.ids import UserId
from actors.kernel.kind import Kind, View
from routes.edge.declare.shown import Shown
from routes.edge.principal import Access, Needs, meets
from routes.part import Opened

MAX_NAME_LENGTH = 200
"""Most characters of a channel's name; all that exist are shorter than 60."""

ChannelName = Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)]
"""Name of a channel, such as `inbox` or `conversation:<id>`."""


class SubscribeParams(msgspec.Struct, frozen=True, rename="camel"):
    """How a channel is shown; fields that do not apply to it are ignored.

    Args:
        mode: `snapshot` for the newest whole state after each change, `delta` for one event each.
        limit: messages in a conversation's snapshot, clamped to 1..120.
        include_archived: whether a conversation's archived messages are merged in.
        interval: seconds, 1..60; without effect, since nothing here polls (contract §9).
    """

    mode: Literal["snapshot", "delta"] = "snapshot"
    limit: Bigint = 50
    include_archived: bool = True
    interval: float | None = None


def the_user(user_id: UserId, _params: SubscribeParams) -> UserId:
    """The viewer object of a channel that shows each user what is their own: the user's id (`LiveChannel.viewer`).

    Args:
        user_id: the user who watches.
    """
    return user_id


def _alike(_user_id: UserId, _params: SubscribeParams) -> None:
    return None


def _prepare_nothing(_service: Opened, _user_id: UserId) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LiveChannel:
    """One kind of channel.

    Args:
        name: the whole name, or the part before the colon.
        shows: the structs of its frames, for the description of the service.
        shown: returns the kind of actor, or the view, that it shows.
        needs: the permission nodes and roles that a viewer must hold for as long as they watch, beside the socket's.
        viewer: makes the viewer object that the actor's `audience` takes; left out, all viewers see the same.
        looks: makes the viewer object of the viewer's rights, in place of `viewer`, and again when they change; then
            `audience` says what these rights show, and refuses a viewer to whom they show nothing.
        id_of: parses the id in the name, to lower case; None if it is malformed. Left out, the name has no id, and the
            channel is the user's own, or the same for all.
        shared: whether it is the same for all users; the id of what it shows is then its name.
        missing: the refusal of a malformed or unknown id.
        by_default: whether it is subscribed on connect (contract §9).
        prepare: loads what memory must know of the viewer before they watch: what is to be awaited for that, or
            None where all is known. May raise PersistenceError.
    """

    name: str
    shows: Shown
    shown: Callable[[Opened], Kind[Any, Any] | View[Any]]
    needs: tuple[Needs, ...] = ()
    viewer: Callable[[UserId, SubscribeParams], object] = _alike
    looks: Callable[[Access], object] | None = None
    id_of: Callable[[str], str | None] | None = None
    shared: bool = False
    missing: type[NotFound] = NotFound
    by_default: bool = False
    prepare: Callable[[Opened, UserId], Awaitable[None] | None] = _prepare_nothing

    def open_to(self, access: Access) -> bool:
        """Whether a user with these rights may watch."""
        return all(meets(needs, access) for needs in self.needs)

    def viewer_of(self, user_id: UserId, params: SubscribeParams, access: Access) -> object:
        """The viewer object of a user with these rights."""
        return self.viewer(user_id, params) if self.looks is None else self.looks(access)

    def name_of(self, actor_id: str) -> str:
        """The channel's name on the wire, for the actor that it shows."""
        return self.name if self.id_of is None else f"{self.name}:{actor_id}"
