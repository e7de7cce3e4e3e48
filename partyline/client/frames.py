"""What the live socket carries: what a subscription yields, and what the service says besides."""

from typing import Any, TypeVar

import msgspec

from partyline.client.problem import Document, Problem

MOST_COMMAND_BYTES = 65_536
"""Of one command (docs/errors.md, 4413)."""

T = TypeVar("T")


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what a channel shows.

    Args:
        channel: which.
        epoch: the name of a history without a gap; None for what has no place in one.
        offset: the place in it.
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
            msgspec.ValidationError: it is of another shape.
        """
        return msgspec.json.decode(self.raw, type=into)


class Snapshot(Shown, frozen=True, kw_only=True):
    """The whole channel; it replaces what was known.

    Args:
        skipped: events for which it stands, since nobody read them in time.
    """

    skipped: int = 0


class Event(Shown, frozen=True, kw_only=True):
    """One change; each comes once and in order.

    Args:
        event: `message_created` and so on.
        own: what it means to the user beside the data, as plain JSON: of a poll, what they have chosen; None for most.
    """

    event: str = ""
    own: Any = None


class Resumed(msgspec.Struct, frozen=True, kw_only=True):
    """A new connection has taken over.

    Args:
        channel: which.
        recovered: all that was missed follows; where it is False, a snapshot.
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
    """A command as it is said.

    Args:
        command: of what JSON can hold.

    Raises:
        Problem: it is longer than the service takes: it would end the connection, and with it all that is watched.
        TypeError, ValueError: JSON cannot hold it, such as half of a surrogate pair.
    """
    encoded = _encode(command)
    if len(encoded) > MOST_COMMAND_BYTES:
        raise Problem(Document("PAYLOAD_TOO_LARGE", "a command has at most 64 KiB"), 413)
    return encoded.decode()
