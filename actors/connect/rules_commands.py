"""The life cycle of a command (contract §7): pure.

| status      | the server takes it | it says `running` | it says its end             | cancelled | its time is over |
|-------------|---------------------|-------------------|-----------------------------|-----------|------------------|
| `pending`   | `delivered`         | `running`         | success, failed or rejected | cancelled | expired          |
| `delivered` | again after a lease | `running`         | success, failed or rejected | cancelled | expired          |
| `running`   |                     | further on        | success, failed or rejected | cancelled | expired          |
| any end     |                     | COMMAND_FINISHED  | the same one: nothing; else | the same  |                  |
|             |                     |                   | COMMAND_FINISHED            |           |                  |

Delivery is at least once while the command lives: the server deduplicates by its id.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from actors.connect.capabilities import require
from actors.connect.commands import AckCommand, CancelCommand, CreateCommand, TakeCommands
from actors.connect.events import AnyEvent, CommandChanged, CommandTouched, LeaseEnded
from actors.connect.extensions import NO_SCHEMA, find_action, fitted_payload
from actors.connect.rules_settings import MASK
from actors.connect.schemas import escaped
from actors.connect.state import State
from actors.errors import CommandFinished, Invalid, NotFound, QuotaExceeded, RevisionConflict, TooLarge
from actors.field_errors import FieldError
from actors.pages import fitting
from actors.stored_json import values_in
from persistence.connect.rows import CommandRow

LEASE_MS = 30_000
"""How long a delivered command waits for its acknowledgement before it is delivered again (contract §7)."""

MAX_OPEN = 1_000
"""The most open commands of one server."""

MAX_OPEN_BYTES = 4 * 1024 * 1024
"""The most bytes that a server's open commands have together: their payloads, and the results that they have so far."""

AT_ONCE = 200
"""How many commands a listening server is delivered in one turn; the next follow as soon as these were sent."""

MAX_BYTES = 64 * 1024
"""The largest payload, and the largest result (contract §7)."""

ENDS = frozenset({"success", "failed", "rejected", "expired", "cancelled"})

ACKS = {
    "running": "running",
    "success": "success",
    "ok": "success",
    "succeeded": "success",
    "failed": "failed",
    "error": "failed",
    "rejected": "rejected",
}
"""{status as a server reports it: status of the command}."""


def create(state: State, command: CreateCommand, now_ms: int) -> Sequence[AnyEvent]:
    """Create a command; one for a listening server is delivered in the same turn, with all others that wait.

    Raises:
        NotFound, Forbidden: the user may not write commands.
        Invalid: there is no such action.
        RevisionConflict: the action no longer belongs to the extension, or no longer has the schema, that the caller
            has found.
        QuotaExceeded: the server has too many open commands, or too many bytes of them.
    """
    require(state, command.user_id, "server.commands.write")
    found = find_action(state.actions, command.action, command.extension_id) or (None, NO_SCHEMA)
    if found != (command.extension_id, command.schema_text):
        raise RevisionConflict("the actions of this server have just changed")
    if len(state.commands) >= MAX_OPEN:
        raise QuotaExceeded(message=f"a server has at most {MAX_OPEN} open commands", max=MAX_OPEN)
    _require_room(state, len(command.payload) + len(command.masked or b""))
    row = CommandRow(
        id=command.command_id,
        server_id=state.id,
        action=command.action,
        payload=command.payload,
        masked=command.masked,
        status="pending",
        extension_id=command.extension_id,
        created_by=command.user_id,
        created_at_ms=now_ms,
        updated_at_ms=now_ms,
        expires_at_ms=now_ms + command.ttl_ms,
    )
    made = CommandChanged(row)
    if command.heard:
        return made, *take(with_command(state, row), TakeCommands(AT_ONCE), now_ms)
    return (made,)


def payload_texts(payload: Mapping[str, Any], schema_text: msgspec.Raw) -> tuple[bytes, bytes | None]:
    """(the JSON text of a payload with the defaults of its action's schema, the same with secret values masked; None
    where it has none). Callers make them before the command's turn, because a schema of 64 KiB takes a millisecond, and
    64 commands share a turn.

    Args:
        payload: the payload, an object.
        schema_text: the JSON text of the action's schema; `NO_SCHEMA` without one.

    Raises:
        TooLarge: the payload has more than 64 KiB.
        Invalid: the payload does not fit the schema, or has a mask for a secret value.
    """
    text = _encoded(payload)
    filled, secret_keys = fitted_payload(payload, schema_text)
    masks = sorted(key for key in secret_keys if filled[key] == MASK)
    if masks:  # a command that was read, sent again: its server would take the mask for the value
        raise Invalid(
            *(FieldError(f"/payload/{escaped(key)}", "NOT_ALLOWED", "a mask: put the value") for key in masks)
        )
    masked = msgspec.json.encode({**filled, **dict.fromkeys(secret_keys, MASK)}) if secret_keys else None
    return (text if filled is payload else _encoded(filled)), masked


def take(state: State, command: TakeCommands, now_ms: int) -> Sequence[AnyEvent]:
    """Deliver the pending commands, oldest first, and those whose lease has ended without an acknowledgement."""
    ready = [one for one in state.commands.values() if _deliverable(one, now_ms)]
    return [_delivered(one, now_ms) for one in fitting(ready[: command.limit], bytes_of)]


def bytes_of(row: CommandRow) -> int:
    """The bytes of a command: its payload, also with secrets masked, and its result, the only large parts."""
    return len(row.payload) + len(row.masked or b"") + len(row.result or b"")


def ack(state: State, command: AckCommand, now_ms: int) -> Sequence[AnyEvent]:
    """Take in the server's report of progress or end; repeating the reported end changes nothing, in whatever order the
    keys of its result come: a server that makes its report anew may write them in another one.

    Raises:
        NotFound: there is no such command.
        CommandFinished: it has ended differently, or expired.
        TooLarge: the result has more than 64 KiB.
        QuotaExceeded: the command goes on, and with its result the server's open commands have too many bytes. The
            result of one that ends is always taken, because it leaves them.
    """
    row = known(state, command.command_id)
    if row.finished_at_ms is not None:
        if (
            row.status == command.status
            and _repeats(command.result, row.result)
            and command.error in {None, row.error}
        ):
            return ()
        raise CommandFinished(status=row.status)
    if row.expires_at_ms <= now_ms:
        raise CommandFinished(status="expired")
    if command.result is not None and len(command.result) > MAX_BYTES:
        raise TooLarge(f"a result has at most {MAX_BYTES} bytes")
    if command.result is not None and command.status not in ENDS:
        _require_room(state, len(command.result) - len(row.result or b""))
    progress = row.progress if command.progress is None else command.progress
    further = replace(
        row,
        status=command.status,
        progress=progress,
        result=command.result if command.result is not None else row.result,
        error=command.error if command.error is not None else row.error,
        leased_until_ms=None,
    )
    if further == row:
        return ()
    further = replace(further, version=row.version + 1, updated_at_ms=now_ms)
    kept = command.result is None
    if command.status in ENDS:
        return (CommandChanged(_without_secrets(replace(further, finished_at_ms=now_ms)), kept),)
    if row.status == command.status:
        return (CommandTouched(further, kept),)
    return (CommandChanged(replace(further, started_at_ms=now_ms), kept),)


def cancel(state: State, command: CancelCommand, now_ms: int) -> Sequence[AnyEvent]:
    """Cancel a command; the server is told, and may complete one that it already runs. Repeating it changes nothing.

    Raises:
        NotFound: there is no such command, or the user is a stranger to the server.
        Forbidden: the user may not write commands.
        CommandFinished: it has ended otherwise.
    """
    require(state, command.user_id, "server.commands.write")
    row = known(state, command.command_id)
    if row.status == "cancelled":
        return ()
    if row.finished_at_ms is not None:
        raise CommandFinished(status=row.status)
    if row.expires_at_ms <= now_ms:
        raise CommandFinished(status="expired")
    return (_ended(row, "cancelled", now_ms),)


def cancelled_of(state: State, extension_id: str, now_ms: int) -> Iterator[AnyEvent]:
    """Cancel the open commands of an extension."""
    for row in state.commands.values():
        if row.extension_id == extension_id:
            yield _ended(row, "cancelled", now_ms)


def ended_by_time(state: State, now_ms: int) -> Iterator[AnyEvent]:
    """Expire commands, and end leases, whose time is over.

    Only as many commands expire at once as fit into a page, since their rows are told to viewers and to other nodes.
    The others stay due, and the kernel asks for them a second later; the server can no longer take or end them.
    """
    over = [row for row in state.commands.values() if row.expires_at_ms <= now_ms]
    for row in fitting(over, bytes_of):
        yield _ended(row, "expired", now_ms)
    for row in state.commands.values():
        if row.expires_at_ms > now_ms and row.leased_until_ms is not None and row.leased_until_ms <= now_ms:
            yield LeaseEnded(row.id)


def next_end(state: State) -> int | None:
    """When the next command expires or the next lease ends; None when there are no open commands."""
    ends = (
        min(one.expires_at_ms, one.leased_until_ms or one.expires_at_ms) for one in state.commands.values()
    )
    return min(ends, default=None)


def known(state: State, command_id: str) -> CommandRow:
    """The command, open or, if it was looked up for this turn, finished.

    Raises:
        NotFound: there is no command with this id.
    """
    row = state.commands.get(command_id)
    if row is None and state.found is not None and state.found.id == command_id:
        row = state.found
    if row is None:
        raise NotFound
    return row


def with_command(state: State, row: CommandRow) -> State:
    """The state with a command's current row; finished commands are dropped from the state."""
    commands = dict(state.commands)
    if row.finished_at_ms is None:
        commands[row.id] = row
    else:
        commands.pop(row.id, None)
    return replace(state, commands=commands)


def without_lease(state: State, command_id: str) -> State:
    """The state in which a command may be delivered again."""
    row = state.commands.get(command_id)
    return state if row is None else with_command(state, replace(row, leased_until_ms=None))


def _repeats(result: bytes | None, reported: bytes | None) -> bool:
    """Whether a result, or none, says nothing else than the one that was reported. Both are texts of our own encoder,
    so that those of one object differ in order alone, and have one length.
    """
    if result is None or result == reported:
        return True
    if reported is None or len(result) != len(reported):
        return False
    one, other = (msgspec.json.encode(values_in(text), order="sorted") for text in (result, reported))
    return one == other


def _encoded(payload: Mapping[str, Any]) -> bytes:
    text = msgspec.json.encode(payload)
    if len(text) > MAX_BYTES:
        raise TooLarge(f"a payload has at most {MAX_BYTES} bytes")
    return text


def _deliverable(row: CommandRow, now_ms: int) -> bool:
    if row.expires_at_ms <= now_ms:
        return False
    leased = row.leased_until_ms is not None and row.leased_until_ms > now_ms
    return row.status == "pending" or (row.status == "delivered" and not leased)


def _delivered(row: CommandRow, now_ms: int) -> AnyEvent:
    delivered = replace(
        row,
        status="delivered",
        version=row.version + 1,
        attempts=row.attempts + 1,
        updated_at_ms=now_ms,
        delivered_at_ms=row.delivered_at_ms or now_ms,
        leased_until_ms=now_ms + LEASE_MS,
    )
    if row.status == "pending":
        return CommandChanged(delivered, result_kept=True)
    return CommandTouched(delivered, result_kept=True)


def _ended(row: CommandRow, status: str, now_ms: int) -> AnyEvent:
    ended = replace(
        row,
        status=status,
        version=row.version + 1,
        updated_at_ms=now_ms,
        finished_at_ms=now_ms,
        leased_until_ms=None,
    )
    return CommandChanged(_without_secrets(ended), result_kept=True)


def _without_secrets(ended: CommandRow) -> CommandRow:
    """A command that has ended, of whose payload nobody needs the secrets any more; its rows lose them as well
    (`persistence.connect.commands.moving`)."""
    return ended if ended.masked is None else replace(ended, payload=ended.masked, masked=None)


def _require_room(state: State, more: int) -> None:
    if more > 0 and sum(map(bytes_of, state.commands.values())) + more > MAX_OPEN_BYTES:
        raise QuotaExceeded(
            message=f"open commands have at most {MAX_OPEN_BYTES} bytes with their results",
            max=MAX_OPEN_BYTES,
        )
