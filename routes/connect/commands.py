"""Commands for game servers: created by users, taken and acknowledged by the server (contract §7)."""

import re
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
import trio
from msgspec import Raw

from actors.connect.commands import AckCommand, CancelCommand, CreateCommand, TakeCommands
from actors.connect.extensions import NO_SCHEMA, Registered, find_action, node_of, registered
from actors.connect.public import Command, command_of
from actors.connect.rules_commands import ACKS, bytes_of, payload_texts
from actors.errors import (
    CommandFinished,
    Forbidden,
    Invalid,
    NotFound,
    QuotaExceeded,
    Refused,
    RevisionConflict,
    TooLarge,
)
from actors.field_errors import FieldError
from actors.ids import ObjectId, Uuid
from actors.pages import MAX_PAGE_BYTES, fitting
from actors.texts import line
from persistence.connect import commands, extensions
from persistence.connect.commands import Wanted
from persistence.connect.rows import CommandRow
from persistence.connection import Connection
from persistence.errors import PersistenceError
from routes.call import Call
from routes.connect.guards import itself, may, require_scope
from routes.connect.parts import GAME_SERVERS
from routes.connect.volume import charge_body
from routes.connect.waiters import WAITERS, Waiter
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.declare.query import Clamp
from routes.edge.principal import SERVER, ServerPrincipal
from routes.edge.reply import MaybeAwaitable, Reply, then
from routes.edge.wire import Wire

READ, WRITE = "server.commands.read", "server.commands.write"
"""Capabilities of users, and scopes of a server's delegated tokens."""

MAX_ACTION_CHARACTERS = 100
MAX_TTL_SECONDS = 86_400
MAX_WAIT_SECONDS = 30
"""Longest wait of a request (contract §7)."""

_COMMANDS = "/v1/connect/servers/{serverId}/commands"
_ONE = _COMMANDS + "/{commandId}"
_PAGES = Cursor("commands", tuple[int, str])
_PREFER_WAIT = re.compile(rb"(?:^|[,;\s])wait\s*=\s*([0-9]{1,6})(?:$|[,;\s])", re.IGNORECASE)

Status = Literal["pending", "delivered", "running", "success", "failed", "rejected", "expired", "cancelled"]


class NewCommand(Wire, frozen=True):
    """What the server is to do.

    Args:
        action: 1 to 100 printable characters; if an extension of the server has an action of this id, its schema
            applies.
        payload: arguments of the action, at most 64 KiB.
        ttl_seconds: 1 to 86,400; a command that is not finished by then expires.
        extension_id: the extension that is meant, if several have such an action.
    """

    action: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ACTION_CHARACTERS)]
    payload: dict[str, Any] = msgspec.field(default_factory=dict)
    ttl_seconds: Annotated[int, msgspec.Meta(ge=1, le=MAX_TTL_SECONDS)] = 300
    extension_id: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class CommandReply(Wire, frozen=True):
    """The command in its current state."""

    command: Command


class CommandQuery(PageQuery, frozen=True):
    """Which commands.

    Args:
        status: only commands in this status; left out = all.
        wait: for servers: seconds to wait if no command is pending, clamped to 0..30.
    """

    status: Status | None = None
    wait: Annotated[int, Clamp(0, MAX_WAIT_SECONDS)] = 0


class CommandList(Wire, frozen=True):
    """Commands, newest first."""

    items: tuple[Command, ...]
    next_cursor: str | None
    has_more: bool


class AckBody(Wire, frozen=True):
    """The progress or the result of a command.

    Args:
        status: `running`, `success` (also `ok`, `succeeded`), `failed` (also `error`) or `rejected`.
        result: an object, at most 64 KiB of JSON; null is none.
        error: at most 1,000 characters.
        progress: per cent, 0 to 100.
    """

    status: Annotated[str, msgspec.Meta(max_length=20)]
    result: dict[str, Any] | None = None
    error: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    progress: Annotated[float, msgspec.Meta(ge=0, le=100)] | None = None


def addressee(call: Call, server_id: Uuid, command_id: ObjectId) -> MaybeAwaitable[None]:
    """Guard: requires that the calling server is the one in the path, and that the command is its own.

    Raises:
        NotFound: it is another server, or has no such command.
        Forbidden: with `meta.permission`: the token lacks the scope.
    """
    require_scope(itself(call, server_id), WRITE)
    state = call.peek(call.service.of(GAME_SERVERS).server, server_id)
    if state is not None and command_id in state.commands:
        return None
    return then(call.service.database.read(commands.exists, server_id, command_id), _require_command)


def _require_command(exists: bool) -> None:
    if not exists:
        raise NotFound("no such command")


@endpoint(
    "POST",
    _COMMANDS,
    needs="connect:commands:write",
    status=201,
    found_status=200,
    refusals=(NotFound, Forbidden, Invalid, QuotaExceeded, RevisionConflict, TooLarge),
    guard=may(WRITE),
)
async def create_command(call: Call, server_id: Uuid, body: NewCommand) -> Reply[CommandReply]:
    """Creates a command for the server; it stays pending while the server is away.

    With `Prefer: wait=n` (at most 30), a command that finishes in time is answered finished, with 200; to whoever may
    no longer see it then, it is answered as it was created, with 201, as it is to a repeat under the same
    Idempotency-Key. The payload for an action of an extension must match its schema, and a private extension needs its
    permission `svc.connect.extensions.<extensionId>`. An action that is not printable is a 422. The values of fields of
    type `secret` are shown to the server alone, and kept until the command ends; their mask in place of one is a 422.
    """
    charge_body(call)
    service = call.service
    extension_id, schema_text = await _action_of(call, server_id, body)
    payload, masked = payload_texts(body.payload, schema_text)
    command = CreateCommand(
        user_id=call.user_id,
        command_id=call.new_id(),
        action=line(body.action, "/action", MAX_ACTION_CHARACTERS),
        payload=payload,
        masked=masked,
        extension_id=extension_id,
        schema_text=schema_text,
        ttl_ms=body.ttl_seconds * 1000,
        heard=service.of(WAITERS).takes_anywhere(server_id),
    )
    seconds = _preferred_wait(call)
    if seconds == 0:
        return Reply(await call.ask(service.of(GAME_SERVERS).server, server_id, command, _reply))
    with service.of(WAITERS).waiter(command.command_id) as waiter:
        made = await call.ask(service.of(GAME_SERVERS).server, server_id, command, _reply)
        finished = await _finished(call, waiter, seconds)
    applied = {"preference-applied": f"wait={seconds}"}
    if finished is None:
        return Reply(made, headers=applied)
    return Reply(_reply(finished), status=200, headers=applied)


@endpoint(
    "GET",
    _COMMANDS,
    needs="connect:commands:read",
    servers=SERVER,
    refusals=(NotFound, Forbidden),
    guard=may(READ),
)
async def list_commands(call: Call, server_id: Uuid, query: CommandQuery) -> CommandList:
    """Commands, newest first.

    The server itself takes its pending commands: they become `delivered`, and are delivered again if it does not
    acknowledge them within 30 s. With `wait` it waits until there are any. With a `status` other than `pending` it
    only reads. A malformed `cursor` is a 400. Of finished commands the newest 1,000 of a server are kept, 16 MiB in
    all.
    """
    shown = partial(command_of, is_server=isinstance(call.principal, ServerPrincipal))
    if isinstance(call.principal, ServerPrincipal) and query.status in {None, "pending"}:
        taken = await _take(call, server_id, query)
        return CommandList(tuple(shown(row) for row in reversed(taken)), None, has_more=False)
    before = _PAGES.place(query.cursor)
    wanted = Wanted(status=query.status, before=before, limit=query.limit + 1, max_bytes=MAX_PAGE_BYTES)
    rows = await call.service.database.read(commands.page, server_id, wanted)
    size = len(fitting(rows[: query.limit], bytes_of))
    page = _PAGES.page(rows, size, lambda row: (row.created_at_ms, row.id))
    return CommandList(tuple(shown(row) for row in page.rows), page.next_cursor, page.has_more)


@endpoint(
    "POST",
    _ONE + "/ack",
    needs=SERVER,
    refusals=(NotFound, Forbidden, Invalid, QuotaExceeded, TooLarge, CommandFinished),
    guard=addressee,
)
async def acknowledge_command(
    call: Call, server_id: Uuid, command_id: ObjectId, body: AckBody
) -> CommandReply:
    """The server reports a command's progress or result.

    Repeating the final status is answered again; another final status is a 409, an unknown one a 422. So is the result
    of a running command where it brings the server's open commands above 4 MiB, payloads and results together; a
    final one is always taken.
    Delegated tokens need the scope `server.commands.write`.
    """
    status = ACKS.get(body.status.lower())
    if status is None:
        raise Invalid(FieldError("/status", "UNKNOWN_VALUE", "running, success, failed or rejected"))
    charge_body(call)
    command = AckCommand(
        command_id=command_id,
        status=status,
        result=None if body.result is None else msgspec.json.encode(body.result),
        error=body.error,
        progress=body.progress,
    )
    return await call.ask(call.service.of(GAME_SERVERS).server, server_id, command, _reply_to_server)


@endpoint(
    "DELETE",
    _ONE,
    needs="connect:commands:write",
    refusals=(NotFound, Forbidden, CommandFinished),
    guard=may(WRITE),
)
async def cancel_command(call: Call, server_id: Uuid, command_id: ObjectId) -> None:
    """Cancels a command that is not finished. Answers 204."""
    command = CancelCommand(call.user_id, command_id)
    await call.ask(call.service.of(GAME_SERVERS).server, server_id, command, lambda _: None)


async def _take(call: Call, server_id: Uuid, query: CommandQuery) -> tuple[CommandRow, ...]:
    service, command = call.service, TakeCommands(query.limit)
    kind, waiters = service.of(GAME_SERVERS).server, service.of(WAITERS)
    waiters.listening.asked(server_id, call.now_ms)
    ends_at = trio.current_time() + query.wait
    while not call.client_is_gone:
        with waiters.waiter(server_id) as waiter:
            taken: tuple[CommandRow, ...] = await call.ask(kind, server_id, command)
            left = ends_at - trio.current_time()
            if taken or left <= 0 or service.draining:
                return taken
            await call.wait(waiter.wait, left)  # another poll, or a stream, may take what wakes it
    return ()  # taken for nobody, they would be kept from whoever asks next until their leases end


async def _finished(call: Call, waiter: Waiter, seconds: int) -> CommandRow | None:
    """The command that the waiter waits for, once it has finished; None where it does not in time, or where the caller
    may not see it any more: it is given to the server all the same, so that this is no refusal.
    """
    try:
        return await call.wait(waiter.wait, seconds)
    except (Refused, PersistenceError):
        return None


async def _action_of(call: Call, server_id: Uuid, body: NewCommand) -> tuple[str | None, Raw]:
    """(id of the extension that has the action, or None; JSON text of the action's schema).

    Raises:
        Elsewhere: another node has the server; the edge passes the request on.
        Forbidden: the extension is private, and the caller lacks its permission.
        Invalid: no extension has such an action, or several have.
    """
    service = call.service
    found = find_action(await _actions_of(call, server_id), body.action, body.extension_id)
    if found is None:
        return None, NO_SCHEMA
    extension_id, _ = found
    row = await service.database.read(extensions.read, extension_id)
    node = node_of(extension_id)
    if row is not None and row.visibility == "private" and not call.user.access.allows(node):
        raise Forbidden(f"missing permission {node}", permission=node)
    return found


async def _actions_of(call: Call, server_id: Uuid) -> Registered:
    """The actions of a server: from its actor's memory on this node, or else by one read for all concurrent callers."""
    service = call.service
    kind = service.of(GAME_SERVERS).server
    await call.go_to(kind, server_id)
    state = service.system.peek(kind, server_id)
    if state is not None:
        return state.actions
    return await service.read_shared(_registered, server_id)


async def _registered(conn: Connection, server_id: str) -> Registered:
    return registered(await extensions.of_server(conn, server_id))


def _preferred_wait(call: Call) -> int:
    """Seconds, 0 for none; a malformed preference is ignored (RFC 7240 §2)."""
    wanted = _PREFER_WAIT.search(call.header(b"prefer") or b"")
    return 0 if wanted is None else min(int(wanted[1]), MAX_WAIT_SECONDS)


def _reply(row: CommandRow) -> CommandReply:
    return CommandReply(command_of(row))


def _reply_to_server(row: CommandRow) -> CommandReply:
    return CommandReply(command_of(row, is_server=True))
