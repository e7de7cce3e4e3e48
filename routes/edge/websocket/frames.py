"""The server's frames: encoded once, with their WebSocket header, for any number of sockets.

Invariants: a payload is valid JSON of one of the structs below, from which AsyncAPI is made, and `Prepared.wire` is
its payloads as unmasked, unfragmented text frames, one after the other. `data` that is `msgspec.Raw` is copied, not
encoded again. Server frames are not masked (RFC 6455 §5.1), which is why one frame can serve every socket.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from actors.field_errors import FieldError
from actors.kernel.sink import Prepared
from routes.edge.websocket.frame_reader import CLOSE, CONTROL_MAX_BYTES, PONG, TEXT

NO_CODE = 1005
"""Stands for a close frame without a code; never sent (RFC 6455 §7.4.1)."""

_FIN = 0x80

_encode = msgspec.json.Encoder().encode


class Frame(msgspec.Struct, frozen=True, tag_field="type", rename="camel"):
    """One object from server to client on `/v1/social/live` (contract §9)."""


class SocketLimits(msgspec.Struct, frozen=True, rename="camel"):
    """The limits of one socket.

    Args:
        commands_per_minute: commands a minute; further ones are refused, and a client that goes on is closed with
            4429.
        max_subscriptions: channels at once.
        max_frame_bytes: of one message from the client; a larger one closes with 4413.
    """

    commands_per_minute: int = 120
    max_subscriptions: int = 200
    max_frame_bytes: int = 65_536


class Hello(Frame, frozen=True, kw_only=True, tag="hello"):
    """The first frame of a live socket.

    Args:
        v: the version of the protocol.
        heartbeat_ms: a client that is silent for so long is pinged, and after the same time again the socket is closed.
        limits: what a client may send.
    """

    v: int = 1
    session_id: str
    heartbeat_ms: int
    server_time_ms: int
    limits: SocketLimits


class ReplyError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a command was refused, as REST would have said it; `errors` only where REST answers 422.

    Args:
        code: the kind of problem, for programs.
        message: what is wrong, for people.
    """

    code: str
    message: str
    meta: Mapping[str, object] | None = None
    errors: tuple[FieldError, ...] | None = None


class Reply(Frame, frozen=True, tag="reply"):
    """The answer to a command that carried an `id`, or the refusal of one that carried none; fields that do not apply
    are left out.

    Args:
        id: as the command had it; null if it had none.
        ok: whether the command was accepted.
        channel: the channel that was subscribed to, as it is called from now on.
        offset: the newest event of the channel.
        recovered: whether the missed events follow in place of a snapshot.
        data: what the command returns, such as the message that was sent.
        error: why the command was refused.
    """

    id: int | str | None
    ok: bool
    channel: str | msgspec.UnsetType = msgspec.UNSET
    epoch: str | msgspec.UnsetType = msgspec.UNSET
    offset: int | msgspec.UnsetType = msgspec.UNSET
    recovered: bool | msgspec.UnsetType = msgspec.UNSET
    data: object = msgspec.UNSET
    error: ReplyError | msgspec.UnsetType = msgspec.UNSET


class Snapshot(Frame, frozen=True, tag="snapshot"):
    """The whole state of a channel.

    Args:
        channel: the channel that is shown.
        offset: its newest event; the state includes all up to it.
        skipped: how many events were not sent before it, as this client was slow.
        data: all of the channel; its shape depends on the channel.
    """

    channel: str
    epoch: str
    offset: int
    skipped: int
    data: object


class Event(Frame, frozen=True, tag="event"):
    """One change in a channel.

    Args:
        channel: the channel that it happened in.
        offset: its place in the channel; null for `typing`, `read` and `presence`.
        event: what has happened.
        data: what it says; its shape depends on `event`.
        self_: what of it depends on the viewer, for the few events that have such a part.
    """

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
    """The service ended a subscription.

    Args:
        channel: the channel that is shown no longer.
        code: why.
    """

    channel: str
    code: str


class Reconnect(Frame, frozen=True, tag="reconnect"):
    """The server is going away.

    Args:
        after_ms: how long to wait before connecting again.
        reason: why the socket is about to be closed.
    """

    after_ms: int
    reason: str


def header(opcode: int, length: int) -> bytes:
    """The header of an unmasked, unfragmented frame.

    Args:
        opcode: 0 to 15; may include reserved bits, such as RSV1 (0x40).
        length: how many bytes the payload has; encoded in 7, 16 or 64 bits (RFC 6455 §5.2).
    """
    if length < 126:
        return bytes((_FIN | opcode, length))
    if length < 65_536:
        return bytes((_FIN | opcode, 126)) + length.to_bytes(2, "big")
    return bytes((_FIN | opcode, 127)) + length.to_bytes(8, "big")


def pong_frame(payload: bytes) -> bytes:
    """The frame that answers a ping.

    Args:
        payload: the payload of the ping, at most 125 bytes.
    """
    return header(PONG, len(payload)) + payload


def close_frame(code: int, reason: str = "") -> bytes:
    """A close frame.

    Args:
        code: 1005 for a frame without a code (RFC 6455 §7.4.1).
        reason: cut at 123 bytes in UTF-8, never inside a character.
    """
    if code == NO_CODE:
        return header(CLOSE, 0)
    text = reason.encode()[: CONTROL_MAX_BYTES - 2].decode(errors="ignore").encode()
    return header(CLOSE, 2 + len(text)) + code.to_bytes(2, "big") + text


def prepare(frame: object) -> Prepared:
    """Encode a struct (or copy a `msgspec.Raw`) and prepend the WebSocket header."""
    payload = bytes(frame) if isinstance(frame, msgspec.Raw) else _encode(frame)
    return Prepared((payload,), header(TEXT, len(payload)) + payload)


def hello(session_id: str, server_time_ms: int, *, heartbeat_ms: int, limits: SocketLimits) -> Prepared:
    """A `hello` frame."""
    return prepare(
        Hello(session_id=session_id, heartbeat_ms=heartbeat_ms, server_time_ms=server_time_ms, limits=limits)
    )


def reply_ok(
    id: int | str,
    *,
    channel: str | msgspec.UnsetType = msgspec.UNSET,
    data: object = msgspec.UNSET,
) -> Prepared:
    """The reply to a command that succeeded.

    Args:
        id: the command's `id`.
        channel: the channel that it was about, if any.
        data: the result, a struct or `msgspec.Raw`; left out by default.
    """
    return prepare(Reply(id, True, channel=channel, data=data))


def reply_subscribed(id: int | str, channel: str, *, epoch: str, offset: int, recovered: bool) -> Prepared:
    """The reply to a subscription that succeeded; the snapshot or events follow it on the socket.

    Args:
        id: the command's `id`.
        channel: the channel's name.
        epoch: identifies the sequence that `offset` belongs to.
        offset: the offset of the newest event so far.
        recovered: whether the events missed since the client's offset follow, in place of a snapshot.
    """
    return prepare(Reply(id, True, channel, epoch, offset, recovered))


def reply_error(
    id: int | str | None,
    code: str,
    message: str,
    *,
    meta: Mapping[str, object] | None = None,
    errors: tuple[FieldError, ...] | None = None,
) -> Prepared:
    """The reply to a command that was refused and changed nothing.

    Args:
        id: the command's `id`, or None if it carried none.
        code: the refusal's code.
        message: the refusal's text, for a human.
        meta: the refusal's `meta`, if any.
        errors: the errors of an invalid command, as in REST's 422.
    """
    return prepare(Reply(id, False, error=ReplyError(code, message, meta or None, errors)))


def pong(id: int | str | None) -> Prepared:
    """The reply to a ping command."""
    return prepare(Pong(id))


def unsubscribed(channel: str, code: str) -> Prepared:
    """The notice that the server ended the subscription of `channel`; `code` is a refusal's, or `INTERNAL`."""
    return prepare(Unsubscribed(channel, code))


def reconnect(after_ms: int, reason: str) -> Prepared:
    """The request to reconnect after `after_ms`; `reason` is a code such as `DRAINING`."""
    return prepare(Reconnect(after_ms, reason))


class LiveEnvelope:
    """Frames of `/v1/social/live`, which carries many channels; implements `Envelope`."""

    __slots__ = ()

    def snapshot(self, channel: str, epoch: str, offset: int, skipped: int, data: object) -> Prepared:
        """A `snapshot` frame of `channel`: `data` includes every event up to `offset`, and `skipped` events were not
        sent.
        """
        return prepare(Snapshot(channel, epoch, offset, skipped, data))

    def event(
        self, channel: str, epoch: str, offset: int | None, name: str, data: object, *, self_: object | None
    ) -> Prepared:
        """An `event` frame.

        Args:
            channel: the channel's name.
            epoch, offset: the event's position; the offset is None for an event that is not in the journal.
            name: the event's name.
            data: a struct or `msgspec.Raw`.
            self_: what the event means to the receiver; None leaves it out.
        """
        own = msgspec.UNSET if self_ is None else self_
        return prepare(Event(channel, epoch, offset, name, data, own))


class BareEnvelope:
    """Frames of single-purpose streams: the data and nothing around it; implements `Envelope`.

    A stream with one channel needs no envelope, so channel, epoch, offset, skipped and self_ are not sent.

    Args:
        told: makes the frame of an event from its name and data; left out for streams that are subscribed in snapshot
            mode only.
    """

    __slots__ = ("_told",)

    def __init__(self, told: Callable[[str, Any], object] | None = None) -> None:
        self._told = told

    def snapshot(
        self,
        channel: str,  # noqa: ARG002
        epoch: str,  # noqa: ARG002
        offset: int,  # noqa: ARG002
        skipped: int,  # noqa: ARG002
        data: object,
    ) -> Prepared:
        """The `data` alone; no other argument (channel, epoch, offset, skipped) matters."""
        return prepare(data)

    def event(
        self,
        channel: str,
        epoch: str,  # noqa: ARG002
        offset: int | None,  # noqa: ARG002
        name: str,
        data: object,
        *,
        self_: object | None,  # noqa: ARG002
    ) -> Prepared:
        """What `told` makes of `name` and `data`; no other argument (epoch, offset, self_) matters.

        Raises:
            TypeError: the stream has no events; the text holds `channel` and `name`, never `data`.
        """
        if self._told is None:
            raise TypeError(f"a bare stream has no events, but {name} was to be sent on {channel}")
        return prepare(self._told(name, data))


LIVE = LiveEnvelope()
BARE = BareEnvelope()
