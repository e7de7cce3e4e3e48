"""A game server's state from its rows, and the rows of what has happened to it."""

from collections.abc import Sequence

import msgspec

from actors.connect import events
from actors.connect.commands import AckCommand, AnyCommand, CancelCommand, Claim
from actors.connect.events import AnyEvent
from actors.connect.state import CLAIM_KEYS_KEPT, State, Template
from persistence.connect import commands, extensions, servers, sessions, settings
from persistence.connect.rows import (
    ClaimKeyRow,
    CommandRow,
    RegistrationRow,
    ServerRow,
    SessionRow,
    SettingsVersionRow,
    TicketRow,
)
from persistence.connection import Connection
from persistence.turn import Statement, Turn

VERSION = 2
"""Of the snapshot's encoding; to be raised when `State` changes its shape or meaning."""

VERSIONS_KEPT = 100
"""Of the settings of one source."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(State)


def dump(state: State) -> bytes:
    """The snapshot, without what `refresh` reads anyway."""
    slim = msgspec.structs.replace(
        state, commands={}, settings={}, registrations={}, found=None, template=None
    )
    return _encoder.encode(slim)


def restore(kept: bytes) -> State:
    """What `dump` made."""
    return _decoder.decode(kept)


async def load(conn: Connection, server_id: str) -> State | None:
    """The state from rows alone; None when there is no such server."""
    row = await servers.read(conn, server_id)
    if row is None:
        return None
    keys = await servers.newest_claim_keys(conn, server_id, CLAIM_KEYS_KEPT) if row.owner_id is None else []
    return State(
        row=row,
        claim_keys={key.key: key.expires_at_ms for key in reversed(keys)},
        tickets={ticket.user_id: ticket for ticket in await sessions.tickets_of(conn, server_id)},
        sessions={session.user_id: session for session in await sessions.sessions_of(conn, server_id)},
        commands={command.id: command for command in await commands.open_of(conn, server_id)},
        settings={one.source: one for one in await settings.of_server(conn, server_id)},
        registrations={one.extension_id: one for one in await extensions.of_server(conn, server_id)},
    )


async def refresh(conn: Connection, server_id: str, state: State) -> State:
    """The state as the rows are now: they hold all of it."""
    return await load(conn, server_id) or msgspec.structs.replace(state, removed=True)


def missing(state: State, command: AnyCommand) -> tuple[str, str] | None:
    """A finished command, or the template of a server that is about to be claimed."""
    match command:
        case AckCommand() | CancelCommand():
            found = state.found is not None and state.found.id == command.command_id
            return None if command.command_id in state.commands or found else ("command", command.command_id)
        case Claim():
            template_id = state.row.template_id
            unread = state.row.owner_id is None and template_id is not None and state.template is None
            return ("template", template_id) if unread and template_id is not None else None
        case _:
            return None


async def fetch(conn: Connection, server_id: str, wanted: tuple[str, str]) -> CommandRow | Template | None:
    """What `missing` has named."""
    what, id = wanted
    if what == "command":
        return await commands.read(conn, server_id, id)
    row = await servers.read(conn, id)
    if row is None or not row.is_template:
        return Template(None)
    return Template(
        row.owner_id,
        tuple(await settings.of_server(conn, id)),
        tuple(await extensions.of_server(conn, id)),
    )


def absorb(state: State, found: CommandRow | Template | None) -> State:
    """The state with what was read."""
    match found:
        case CommandRow():
            return msgspec.structs.replace(state, found=found)
        case Template():
            return msgspec.structs.replace(state, template=found)
        case None:
            return state


async def persist(conn: Connection, turns: Sequence[Turn]) -> None:
    """Write the rows of all turns, inside the writer's transaction."""
    changes = Changes()
    for turn in turns:
        for event in turn.events:
            changes.take(turn.id, event)  # type: ignore[arg-type]
    await changes.write(conn)


def plan(turns: Sequence[Turn]) -> list[Statement] | None:
    """What `persist` would run, when only commands have moved, which is what servers are busy with; else None."""
    rows: dict[str, CommandRow] = {}
    for turn in turns:
        for event in turn.events:
            if not isinstance(event, events.CommandChanged | events.CommandTouched):
                return None
            rows[event.command.id] = event.command
    return [commands.putting(list(rows.values()))]


class Changes:
    """The outcome of many turns, by table. One actor has at most one turn among them."""

    def __init__(self) -> None:
        self.servers: dict[str, ServerRow] = {}  # {server id: its own row at the end}
        self.claim_keys: list[ClaimKeyRow] = []
        self.tickets: dict[tuple[str, str], TicketRow] = {}  # {(server id, user id): the newest}
        self.sessions: dict[tuple[str, str], SessionRow | None] = {}  # the same: None where it has ended
        self.commands: dict[str, CommandRow] = {}  # {command id: as it is at the end}
        self.settings: list[events.SettingsChanged] = []
        self.registrations: dict[
            tuple[str, str], RegistrationRow
        ] = {}  # {(server id, extension id): the newest}
        self.removed: list[str] = []

    def take(self, server_id: str, event: AnyEvent) -> None:
        """Take in one more event of a server."""
        match event:
            case events.ServerChanged():
                self.servers[server_id] = event.row
            case events.ClaimKeyIssued():
                self.claim_keys.append(ClaimKeyRow(event.key, server_id, event.expires_at_ms))
            case events.TicketIssued():
                self.tickets[server_id, event.ticket.user_id] = event.ticket
            case events.SessionStarted():
                self.tickets[server_id, event.ticket.user_id] = event.ticket
                self.sessions[server_id, event.session.user_id] = event.session
            case events.SessionEnded():
                self.sessions[server_id, event.session.user_id] = None
            case events.CommandChanged() | events.CommandTouched():
                self.commands[event.command.id] = event.command
            case events.SettingsChanged():
                self.settings.append(event)
            case events.ExtensionRegistered() | events.ExtensionSeen():
                self.registrations[server_id, event.registration.extension_id] = event.registration
            case events.ServerRemoved():
                self.removed.append(server_id)

    async def write(self, conn: Connection) -> None:
        """Write all of it."""
        for row in self.servers.values():  # rare: once in the life of most servers
            await servers.change(conn, row)
        if self.claim_keys:
            await servers.add_claim_keys(conn, self.claim_keys)
        if self.tickets:
            await sessions.put_tickets(conn, list(self.tickets.values()))
        if self.sessions:
            await sessions.end(conn, list(self.sessions))
            await sessions.start(conn, [one for one in self.sessions.values() if one is not None])
        if self.commands:
            await commands.put(conn, list(self.commands.values()))
        for change in self.settings:
            await settings.put(conn, change.settings)
            await settings.remember(conn, _version(change), keep=VERSIONS_KEPT)
        for registration in self.registrations.values():
            await extensions.put_registration(conn, registration)
        if self.removed:
            await servers.remove(conn, self.removed)


def _version(change: events.SettingsChanged) -> SettingsVersionRow:
    row = change.settings
    return SettingsVersionRow(
        server_id=row.server_id,
        source=row.source,
        version=row.version,
        schema_version=row.schema_version,
        data=row.data,
        secret_keys=row.secret_keys,
        changed_keys=change.changed_keys,
        updated_at_ms=row.updated_at_ms,
        updated_by=row.updated_by,
    )
