"""What the server says on a live socket: encoded once, with its WebSocket header, for any number of sockets.

Invariants: a payload is valid JSON of one of the structs below (AsyncAPI is made of them), and
`Prepared.wire` is its payloads as unmasked, unfragmented text frames, one after the other. `data` that is
`msgspec.Raw` is copied, not encoded again. Server frames carry no mask (RFC 6455 §5.1), which is what lets
one frame serve every socket.
"""

from collections.abc import Mapping

import msgspec

from actors.errors import FieldError
from actors.kernel.sink import Prepared
from routes.edge.websocket.frame_reader import CLOSE, PONG, TEXT

NO_CODE = 1005
"""Stands for a close frame without a code; never sent (RFC 6455 §7.4.1)."""

_FIN = 0x80

_CONTROL_MAX_BYTES = 125  # RFC 6455 §5.5
_encode = msgspec.json.Encoder().encode


class Frame(msgspec.Struct, frozen=True, tag_field="type", rename="camel"):
    """One object from server to client on `/v1/social/live` (contract §9)."""


class SocketLimits(msgspec.Struct, frozen=True, rename="camel"):
    """What one socket may do.

    Args:
        commands_per_minute: commands a minute; more are refused, and going on then closes with 4429.
        max_subscriptions: channels at once.
        max_frame_bytes: of one message from the client, more closes with 4413.
    """

    commands_per_minute: int = 120
    max_subscriptions: int = 200
    max_frame_bytes: int = 65_536


class Hello(Frame, frozen=True, kw_only=True, tag="hello"):
    """The first frame of a live socket; `v` is the version of what is spoken on it."""

    v: int = 1
    session_id: str
    heartbeat_ms: int
    server_time_ms: int
    limits: SocketLimits


class ReplyError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a command was refused: what REST would have said; `errors` only where that is a 422."""

    code: str
    message: str
    meta: Mapping[str, object] | None = None
    errors: tuple[FieldError, ...] | None = None


class Reply(Frame, frozen=True, tag="reply"):
    """The answer to a command that carried an `id`; fields that do not apply are left out."""

    id: int | str
    ok: bool
    channel: str | msgspec.UnsetType = msgspec.UNSET
    epoch: str | msgspec.UnsetType = msgspec.UNSET
    offset: int | msgspec.UnsetType = msgspec.UNSET
    recovered: bool | msgspec.UnsetType = msgspec.UNSET
    data: object = msgspec.UNSET
    error: ReplyError | msgspec.UnsetType = msgspec.UNSET


class Snapshot(Frame, frozen=True, tag="snapshot"):
    """The whole of a channel, up to and with `offset`; `skipped` events were not sent before it."""

    channel: str
    epoch: str
    offset: int
    skipped: int
    data: object


class Event(Frame, frozen=True, tag="event"):
    """One change in a channel; `typing`, `read` and `presence` have no offset, and few events a `self`."""

    channel: str
    epoch: str
    offset: int | None
    event: str
    data: object
    self_: object = msgspec.field(default=msgspec.UNSET, name="self")


class Pong(Frame, frozen=True, tag="pong"):
    """The answer to `op:"ping"`."""

    id: int | str | None


class Unsubscribed(Frame, frozen=True, tag="unsubscribed"):
    """A subscription has ended, and why."""

    channel: str
    code: str


class Reconnect(Frame, frozen=True, tag="reconnect"):
    """The server goes away; connect again in `afterMs`."""

    after_ms: int
    reason: str


def header(opcode: int, length: int) -> bytes:
    """The header of an unmasked, unfragmented frame.

    Args:
        opcode: 0..15.
        length: of the payload, bytes, 0 and up; takes 7, 16 or 64 bits (RFC 6455 §5.2).
    """
    if length < 126:
        return bytes((_FIN | opcode, length))
    if length < 65_536:
        return bytes((_FIN | opcode, 126)) + length.to_bytes(2, "big")
    return bytes((_FIN | opcode, 127)) + length.to_bytes(8, "big")


def pong_frame(payload: bytes) -> bytes:
    """The answer to a ping, as it goes to the socket.

    Args:
        payload: of the ping, at most 125 bytes.
    """
    return header(PONG, len(payload)) + payload


def close_frame(code: int, reason: str = "") -> bytes:
    """A close frame, as it goes to the socket.

    Args:
        code: 1005 for a frame without a code (RFC 6455 §7.4.1).
        reason: cut at 123 bytes in UTF-8, never inside a character.
    """
    if code == NO_CODE:
        return header(CLOSE, 0)
    text = reason.encode()[: _CONTROL_MAX_BYTES - 2].decode(errors="ignore").encode()
    return header(CLOSE, 2 + len(text)) + code.to_bytes(2, "big") + text


def prepare(frame: object) -> Prepared:
    """Encode a struct (or copy a `msgspec.Raw`) and put the WebSocket header before it."""
    payload = bytes(frame) if isinstance(frame, msgspec.Raw) else _encode(frame)
    return Prepared((payload,), header(TEXT, len(payload)) + payload)


def hello(session_id: str, server_time_ms: int, *, heartbeat_ms: int, limits: SocketLimits) -> Prepared:
    """The first frame."""
    return prepare(
        Hello(session_id=session_id, heartbeat_ms=heartbeat_ms, server_time_ms=server_time_ms, limits=limits)
    )


def reply_ok(
    id: int | str,
    *,
    channel: str | msgspec.UnsetType = msgspec.UNSET,
    data: object = msgspec.UNSET,
) -> Prepared:
    """A command succeeded; `data` is a struct or `msgspec.Raw`."""
    return prepare(Reply(id, True, channel=channel, data=data))


def reply_subscribed(id: int | str, channel: str, *, epoch: str, offset: int, recovered: bool) -> Prepared:
    """A subscription stands; snapshot or events follow it on this socket.

    Args:
        channel: its name on the wire.
        recovered: events follow in place of a snapshot.
    """
    return prepare(Reply(id, True, channel, epoch, offset, recovered))


def reply_error(
    id: int | str,
    code: str,
    message: str,
    *,
    meta: Mapping[str, object] | None = None,
    errors: tuple[FieldError, ...] | None = None,
) -> Prepared:
    """A command was refused, and nothing has changed.

    Args:
        code: of the refusal.
        message: a sentence for people.
    """
    return prepare(Reply(id, False, error=ReplyError(code, message, meta or None, errors)))


def pong(id: int | str | None) -> Prepared:
    """The answer to a ping command."""
    return prepare(Pong(id))


def unsubscribed(channel: str, code: str) -> Prepared:
    """The server ended a subscription.

    Args:
        channel: its name on the wire.
        code: why.
    """
    return prepare(Unsubscribed(channel, code))


def reconnect(after_ms: int, reason: str) -> Prepared:
    """The server asks to connect again.

    Args:
        reason: a word for logs.
    """
    return prepare(Reconnect(after_ms, reason))


class LiveEnvelope:
    """Frames of the socket for everything; implements `Envelope`."""

    __slots__ = ()

    def snapshot(self, channel: str, epoch: str, offset: int, skipped: int, data: object) -> Prepared:
        """A `snapshot` frame.

        Args:
            channel: its name on the wire.
            skipped: events that were not sent before it.
            data: a struct or `msgspec.Raw`.
        """
        return prepare(Snapshot(channel, epoch, offset, skipped, data))

    def event(
        self, channel: str, epoch: str, offset: int | None, name: str, data: object, *, self_: object | None
    ) -> Prepared:
        """An `event` frame.

        Args:
            channel: its name on the wire.
            name: of the event on the wire.
            data: a struct or `msgspec.Raw`.
        """
        own = msgspec.UNSET if self_ is None else self_
        return prepare(Event(channel, epoch, offset, name, data, own))


class BareEnvelope:
    """Frames of the single-purpose streams: the data and nothing around it; implements `Envelope`."""

    __slots__ = ()

    def snapshot(
        self,
        channel: str,  # noqa: ARG002
        epoch: str,  # noqa: ARG002
        offset: int,  # noqa: ARG002
        skipped: int,  # noqa: ARG002
        data: object,
    ) -> Prepared:
        """The data alone: a stream of one thing needs no envelope, so `channel`, `skipped` and place go."""
        return prepare(data)

    def event(
        self,
        channel: str,
        epoch: str,  # noqa: ARG002
        offset: int | None,  # noqa: ARG002
        name: str,
        data: object,  # noqa: ARG002
        *,
        self_: object | None,  # noqa: ARG002
    ) -> Prepared:
        """Never called with any `channel`, `name` or `data`: single-purpose streams are watched in snapshot mode
        only.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"a bare stream has no events, but {name} was to be sent on {channel}")


LIVE = LiveEnvelope()
BARE = BareEnvelope()
