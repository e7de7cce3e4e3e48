"""The commands of `/v1/social/live`: decoding messages, and the functions that carry commands out.

A message is read as strictly as a REST body. Where it is certain that this refuses nothing, it is decoded at once,
straight into its struct, in a fifth of the time; else it is parsed, to find out what is wrong:

- not a JSON object, too deep, a member named twice, an `id` that could not be repeated: 4400, since the
  client does not speak this protocol;
- an unknown `op`, a missing or wrong field: a reply `VALIDATION_FAILED` with pointers into the message, or into the
  member that is a REST body, as REST would point.
"""

from collections.abc import Awaitable, Iterable, Mapping
from typing import Any, Union, cast

import msgspec

from actors.bounds import MAX_SAFE_INTEGER
from actors.errors import Invalid
from actors.field_errors import FieldError
from routes.edge.errors import MalformedJson
from routes.edge.nulls import convert
from routes.edge.strict_json import MAX_DEPTH, parse
from routes.edge.websocket import frames
from routes.edge.wire import field_error
from routes.live.command import MAX_ID_LENGTH, Command, LiveCommand, Ping, Subscribe, Unsubscribe
from routes.live.session import AS_BY_DEFAULT, CommandId, Session


def _subscribe(session: Session, command: Subscribe) -> Awaitable[None] | None:
    id = command.id

    def opened(name: str, epoch: str, offset: int, recovered: bool) -> None:
        if id is not None:
            reply = frames.reply_subscribed(id, name, epoch=epoch, offset=offset, recovered=recovered)
            # The first frame follows within this step, and leaves in one send with it.
            session.socket.hold(reply)

    since = None if command.since is None else (command.since.epoch, command.since.offset)
    waiting = session.subscribe(command.channel, command.params or AS_BY_DEFAULT, since=since, opened=opened)
    if waiting is not None:
        return _subscribed(session, waiting)
    session.socket.release()
    return None


async def _subscribed(session: Session, waiting: Awaitable[None]) -> None:
    await waiting
    session.socket.release()


def _unsubscribe(session: Session, command: Unsubscribe) -> None:
    session.succeed(command.id, channel=session.unsubscribe(command.channel))


def _ping(session: Session, command: Ping) -> None:
    session.socket.send_nowait(frames.pong(command.id))


ROOT_COMMANDS = (
    LiveCommand(Subscribe, _subscribe),
    LiveCommand(Unsubscribe, _unsubscribe),
    LiveCommand(Ping, _ping),
)
"""Commands that exist beside those of the domains."""


class BadFrame(Exception):
    """The message is not of this protocol; the socket is closed with 4400.

    Args:
        reason: text for the close frame.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Misread(Exception):
    """The message is a JSON object, but not a valid command; it is refused with a reply.

    Args:
        id: the command's id, or None.
        refused: the refusal, with pointers to the errors.
    """

    def __init__(self, id: CommandId, refused: Invalid) -> None:
        super().__init__(id, refused)
        self.id = id
        self.refused = refused


class Commands:
    """All commands that a socket understands: the root's, then the domains'.

    Args:
        commands: those of all domains; each `op` is one command's alone.

    Attributes:
        structs: what they are decoded into, for AsyncAPI.

    Raises:
        ValueError: two commands have one `op`.
    """

    def __init__(self, commands: Iterable[LiveCommand]) -> None:
        every = (*ROOT_COMMANDS, *commands)
        self.structs = tuple(one.struct for one in every)
        self._run = {one.struct: one.run for one in every}
        self._bodies = {_op_of(one.struct): one.body for one in every if one.body is not None}
        if len({_op_of(struct) for struct in self.structs}) < len(self.structs):
            raise ValueError(f"two commands have one op: {self.structs}")
        self._type: Any = Union[self.structs]  # noqa: UP007 - of a tuple that is known at run time
        self._decoder: msgspec.json.Decoder[Command] = msgspec.json.Decoder(self._type)

    def run(self, session: Session, command: Command) -> Awaitable[None] | None:
        """Carry a command out; what needs no waiting returns None and costs no coroutine.

        Args:
            session: the session of the client that sent it.
            command: the command, as `read` returned it.

        Raises:
            Refused: the command is refused; the socket stays open.
        """
        return self._run[type(command)](session, command)

    def read(self, message: bytes) -> Command:
        """Decode the command in a message.

        Args:
            message: the client's message in UTF-8, at most `maxFrameBytes`.

        Raises:
            BadFrame: the message is not of this protocol; the caller closes the socket.
            Misread: the command is not valid; the caller refuses it.
        """
        # Escapes may stand for U+0000, or for a name that stands there already; only the parser is safe with deep
        # nesting.
        if b"\\" not in message and message.count(b"[") + message.count(b"{") <= MAX_DEPTH:
            try:
                command = self._decoder.decode(message)
            except (msgspec.DecodeError, UnicodeDecodeError):
                pass
            else:
                strings = message.split(b'"')[1::2]
                if len(set(strings)) == len(strings):  # names among them, so that none stands twice
                    return command
        return self._read_slowly(message)

    def _read_slowly(self, message: bytes) -> Command:
        try:
            values, errors = parse(message)
        except MalformedJson as malformed:
            raise BadFrame(malformed.message) from None
        if not isinstance(values, dict):
            raise BadFrame("a message is one JSON object")
        if not errors:
            try:
                return cast(Command, convert(values, self._type))
            except msgspec.ValidationError as error:
                errors = (field_error(error),)
        op = values.get("op")
        body = self._bodies.get(op) if isinstance(op, str) else None
        raise Misread(_id_in(values), Invalid(*(_repointed(error, body) for error in errors)))


def _op_of(struct: type[Command]) -> object:
    return struct.__struct_config__.tag


def _repointed(error: FieldError, body: str | None) -> FieldError:
    """The error with a pointer into the body, where it lies in there."""
    if body is None or not error.pointer.startswith(f"/{body}/"):
        return error
    return FieldError(error.pointer.removeprefix(f"/{body}"), error.code, error.message)


def _id_in(plain: Mapping[str, object]) -> CommandId:
    id = plain.get("id")
    if id is None or (isinstance(id, str) and len(id) <= MAX_ID_LENGTH):
        return id
    if isinstance(id, int) and not isinstance(id, bool) and abs(id) <= MAX_SAFE_INTEGER:
        return id
    raise BadFrame(f"an id is an integer or at most {MAX_ID_LENGTH} characters")
