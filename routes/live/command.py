"""What a command on `/v1/social/live` is, and those beside the domains', which derive theirs and list them in their
records.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from actors.bounds import MAX_SAFE_INTEGER
from routes.live.channel import ChannelName, SubscribeParams

MAX_ID_LENGTH = 64
"""Most characters of a command's id that is a string."""

_Number = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
_Text = Annotated[str, msgspec.Meta(max_length=MAX_ID_LENGTH)]


class Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", rename="camel"):
    """A message from client to server.

    Args:
        id: chosen by the client and repeated in the reply; a command without one gets a reply, with `id` null, only
            when it is refused.
    """

    id: _Number | _Text | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LiveCommand:
    """One command that a domain adds to `/v1/social/live`.

    Args:
        struct: what a message with its `op` is decoded into.
        run: carries it out, given the `Session` of the client and the struct; returns what is still to be awaited, or
            None. Refuses by raising what a REST route would raise.
        body: the member that is the body of a REST route, into which pointers of `VALIDATION_FAILED` point; None where
            they point into the whole message.
    """

    struct: type[Command]
    run: Callable[[Any, Any], Awaitable[None] | None]
    body: str | None = None


class Position(msgspec.Struct, frozen=True):
    """The newest epoch and offset that a client has of a channel.

    Args:
        offset: the newest event that the client has.
    """

    epoch: Annotated[str, msgspec.Meta(max_length=64)]
    offset: Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)]


class Subscribe(Command, frozen=True, tag="subscribe"):
    """Watch a channel; with `since`, the missed events are sent in place of a snapshot if they are still known.

    Args:
        since: the newest event that the client has: what came after it is sent in place of a snapshot, if it is still
            known.
        params: what to show, for channels that can be shown in several ways.
    """

    channel: ChannelName
    since: Position | None = None
    params: SubscribeParams | None = None


class Unsubscribe(Command, frozen=True, tag="unsubscribe"):
    """Stop watching a channel; succeeds also if it was not watched."""

    channel: ChannelName


class Ping(Command, frozen=True, tag="ping"):
    """Ask for a `pong`, which carries the same `id`."""
