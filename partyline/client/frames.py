"""The frames of the live socket: those that a subscription yields, and those that only the client itself reads."""

from typing import Any, TypeVar

import msgspec

from partyline.client.problem import Document, Problem

MOST_COMMAND_BYTES = 65_536
"""Most bytes of one command (docs/errors.md, 4413)."""

T = TypeVar("T")


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what a channel shows.

    Args:
        channel: the channel's name, such as `inbox`.
        epoch: the name of the history without a gap that the offset counts in; None for what has no place in one.
        offset: the place in that history; None with `epoch`.
        raw: the data, as JSON.
    """

    channel: str
    epoch: str | None = None
    offset: int | None = None
    raw: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def data(self) -> Any:
        """The data as plain JSON."""
        return msgspec.json.decode(self.raw)

    def as_(self, into: type[T]) -> T:
        """The data as a type of `partyline.client.types`.

        Args:
            into: the type.

        Raises:
            msgspec.ValidationError: the data is of another shape.
        """
        return msgspec.json.decode(self.raw, type=into)


class Snapshot(Shown, frozen=True, kw_only=True):
    """The whole state of a channel; it replaces what the client knew of that before.

    Args:
        skipped: how many events this snapshot stands for, which nobody has read in time.
    """

    skipped: int = 0


class Event(Shown, frozen=True, kw_only=True):
    """One change of a channel; each comes once, and in order.

    Args:
        event: the event's name, `message_created` and so on.
        own: what the event means to this user beside the data, as plain JSON: for a poll, what they have chosen; None
            for most events.
    """

    event: str = ""
    own: Any = None


class Resumed(msgspec.Struct, frozen=True, kw_only=True):
    """A new connection shows the channel from here on.

    Args:
        channel: the channel's name.
        recovered: whether all events that were missed follow; where it is False, a snapshot follows.
    """

    channel: str
    recovered: bool


class Frame(msgspec.Struct, frozen=True, rename="camel"):
    """Any frame of the service: `hello`, `reply`, `snapshot`, `event`, `unsubscribed`, `reconnect`, `pong`."""

    type: str
    id: int | None = None
    ok: bool = True
    channel: str = ""
    epoch: str | None = None
    offset: int | None = None
    recovered: bool = False
    event: str = ""
    skipped: int = 0
    code: str = ""
    after_ms: int = 0
    server_time_ms: int = 0
    own: Any = msgspec.field(default=None, name="self")
    data: msgspec.Raw = msgspec.Raw(b"null")
    error: Document | None = None


decode_frame = msgspec.json.Decoder(Frame).decode
_encode = msgspec.json.Encoder().encode


def encode_command(command: dict[str, object]) -> str:
    """A command as JSON, as it is sent over the live socket.

    Args:
        command: the command's fields: values that JSON can hold.

    Raises:
        Problem: it is longer than the service takes. Sent, it would end the connection, and with that all that is
            watched.
        TypeError, ValueError: JSON cannot hold it, such as half of a surrogate pair.
    """
    encoded = _encode(command)
    if len(encoded) > MOST_COMMAND_BYTES:
        raise Problem(Document("PAYLOAD_TOO_LARGE", "a command has at most 64 KiB"), 413)
    return encoded.decode()
