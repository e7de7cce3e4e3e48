"""What a client says on `/v1/social/live`, and who answers it: one struct and one line in `OPS` per
operation.

A message is decoded once, straight into its struct. What does not fit is looked at again, slowly:

- not a JSON object, too deep, a member named twice, an `id` that could not be repeated: 4400, since the
  client speaks something else;
- an unknown `op`, a missing or wrong field: a reply `VALIDATION_FAILED` with pointers into the message, for a
  `send` into its `data`, as REST would point.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeAlias, cast

import msgspec

from actors.bounds import MAX_SAFE_INTEGER
from actors.errors import FieldError, Invalid
from routes.chat import socket_commands
from routes.chat.socket_commands import Read, Send, Typing
from routes.edge.errors import MalformedJson
from routes.edge.strict_json import MAX_DEPTH, parse
from routes.edge.websocket import frames
from routes.edge.wire import field_error
from routes.live.channel import ChannelName, SubscribeParams
from routes.live.command import MAX_ID_LENGTH, Command
from routes.live.session import CommandId, Session


class Position(msgspec.Struct, frozen=True):
    """Where a client stands in a channel: what its newest frame said."""

    epoch: Annotated[str, msgspec.Meta(max_length=64)]
    offset: Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)]


class Subscribe(Command, frozen=True, tag="subscribe"):
    """Watch a channel; with `since`, what was missed comes in place of a snapshot where it is known."""

    channel: ChannelName
    since: Position | None = None
    params: SubscribeParams | None = None


class Unsubscribe(Command, frozen=True, tag="unsubscribe"):
    """Watch a channel no longer; also done when it was not watched."""

    channel: ChannelName


class Ping(Command, frozen=True, tag="ping"):
    """Ask for a `pong`, which carries the same `id`."""


AnyCommand: TypeAlias = Subscribe | Unsubscribe | Ping | Typing | Read | Send


async def _subscribe(session: Session, command: Subscribe) -> None:
    id = command.id

    def opened(name: str, epoch: str, offset: int, recovered: bool) -> None:
        if id is not None:
            reply = frames.reply_subscribed(id, name, epoch=epoch, offset=offset, recovered=recovered)
            session.socket.send_nowait(reply)

    since = None if command.since is None else (command.since.epoch, command.since.offset)
    await session.subscribe(command.channel, command.params or SubscribeParams(), since=since, opened=opened)


def _unsubscribe(session: Session, command: Unsubscribe) -> None:
    session.succeed(command.id, channel=session.unsubscribe(command.channel))


def _ping(session: Session, command: Ping) -> None:
    session.socket.send_nowait(frames.pong(command.id))


OPS: Mapping[type[Command], Callable[[Session, Any], Awaitable[None] | None]] = {
    Subscribe: _subscribe,
    Unsubscribe: _unsubscribe,
    Ping: _ping,
    Typing: socket_commands.typing,
    Read: socket_commands.read,
    Send: socket_commands.send,
}
"""{command: who does it}; what needs no waiting is no coroutine, and costs none."""


class BadFrame(Exception):
    """The message is nothing that a client of this service sends; closes the socket with 4400.

    Args:
        reason: for the close frame.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Misread(Exception):
    """The message is an object, but no command; refused with a reply.

    Args:
        id: of the command, None when it has none.
        refused: with pointers.
    """

    def __init__(self, id: CommandId, refused: Invalid) -> None:
        super().__init__(id, refused)
        self.id = id
        self.refused = refused


_decoder: msgspec.json.Decoder[AnyCommand] = msgspec.json.Decoder(AnyCommand)


def read_command(message: bytes) -> AnyCommand:
    """The command in a message.

    Args:
        message: UTF-8, at most `maxFrameBytes`.

    Raises:
        BadFrame: close the socket.
        Misread: refuse the command.
    """
    # What only the slow way can judge: U+0000 is refused, and deep nesting must not reach a recursive
    # decoder.
    if b"\\u0000" not in message and message.count(b"[") + message.count(b"{") <= MAX_DEPTH:
        try:
            return _decoder.decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
    return _read_slowly(message)


def _read_slowly(message: bytes) -> AnyCommand:
    try:
        values, errors = parse(message)
    except MalformedJson as malformed:
        raise BadFrame(malformed.message) from None
    if not isinstance(values, dict):
        raise BadFrame("a message is one JSON object")
    if not errors:
        try:
            return cast(AnyCommand, msgspec.convert(values, AnyCommand))
        except msgspec.ValidationError as error:
            errors = (field_error(error),)
    op = values.get("op")
    raise Misread(_id_in(values), Invalid(*(_repointed(error, op) for error in errors)))


def _repointed(error: FieldError, op: object) -> FieldError:
    inside = error.pointer.removeprefix("/data/")
    if op != "send" or inside == error.pointer:
        return error
    return FieldError(f"/{inside}", error.code, error.message)


def _id_in(plain: Mapping[str, object]) -> CommandId:
    id = plain.get("id")
    if id is None or (isinstance(id, str) and len(id) <= MAX_ID_LENGTH):
        return id
    if isinstance(id, int) and not isinstance(id, bool) and abs(id) <= MAX_SAFE_INTEGER:
        return id
    raise BadFrame(f"an id is an integer or at most {MAX_ID_LENGTH} characters")
