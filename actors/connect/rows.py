"""A game server's state from its rows, and the rows of what has happened to it."""

from collections.abc import Sequence

import msgspec

from actors.connect import events
from actors.connect.commands import (
    AcceptInvite,
    AckCommand,
    AnyCommand,
    CancelCommand,
    Claim,
    CreateInvite,
    IssueTicket,
    PutMember,
)
from actors.connect.events import AnyEvent
from actors.connect.public_members import InviteNotice
from actors.connect.state import CLAIM_KEYS_KEPT, Relation, State, Template
from actors.kernel.facets import Lookups
from actors.time import iso
from persistence.connect import commands, extensions, invites, members, servers, sessions, settings
from persistence.connect.rows import (
    ClaimKeyRow,
    CommandRow,
    InviteRow,
    MemberRow,
    RegistrationRow,
    ServerRow,
    SessionRow,
    SettingsVersionRow,
    TicketRow,
)
from persistence.connection import Connection
from persistence.friends import standing
from persistence.journal.turn import Statement, Turn
from persistence.notifications import notifications
from persistence.notifications.notifications import NewNotification
from persistence.users import users

VERSION = 3
"""Of the snapshot's encoding; to be raised when `State` changes its shape or meaning."""

VERSIONS_KEPT = 100
"""Of the settings of one source."""

VERSIONS_BYTES = 4 * 1024 * 1024
"""Of all versions of a server's settings; the oldest go."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(State)


def dump(state: State) -> bytes:
    """The snapshot, without what `refresh` reads anyway."""
    slim = msgspec.structs.replace(
        state,
        row=msgspec.structs.replace(state.row, owner_name=None),
        commands={},
        settings={},
        registrations={},
        members={},
        invites={},
        found=None,
        relation=None,
        template=None,
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
        members={one.user_id: one for one in await members.of_server(conn, server_id)},
        invites={one.id: one for one in await invites.of_server(conn, server_id)},
    )


async def refresh(conn: Connection, server_id: str, state: State) -> State:
    """The state as the rows are now: they hold all of it."""
    return await load(conn, server_id) or msgspec.structs.replace(state, removed=True)


def missing(  # noqa: PLR0911 - a table
    state: State, command: AnyCommand
) -> tuple[str, ...] | None:
    """A finished command, the template of a server that is about to be claimed, who is to belong to it, or to play."""
    match command:
        case AckCommand() | CancelCommand():
            return None if command.command_id in state.commands else ("command", command.command_id)
        case Claim():
            template_id = state.row.template_id
            unread = state.row.owner_id is None and template_id is not None
            return ("template", template_id) if unread and template_id is not None else None
        case IssueTicket() if state.row.owner_id not in {None, command.user_id}:
            return "relation", command.user_id, state.row.owner_id or ""
        case PutMember() if command.user_id not in state.members:
            return "relation", command.user_id, command.actor_id
        case CreateInvite():
            return "relation", command.invitee_user_id, command.actor_id
        case AcceptInvite() if command.invite_id in state.invites:
            return "relation", command.user_id, state.invites[command.invite_id].inviter_id
        case _:
            return None


async def fetch(
    conn: Connection, server_id: str, wanted: tuple[str, ...]
) -> CommandRow | Template | Relation | None:
    """What `missing` has named."""
    what, id, *others = wanted
    if what == "relation":
        return await _relation(conn, id, others[0])
    if what == "command":
        return await commands.read(conn, server_id, id)
    row = await servers.read(conn, id)
    if row is None or not row.is_template:
        return Template(None)
    return Template(
        row.owner_id,
        tuple(await settings.of_server(conn, id)),
        tuple(await extensions.of_server(conn, id)),
        row.access_mode,
        row.invite_requires_direct_friend,
    )


async def _relation(conn: Connection, user_id: str, other_id: str) -> Relation:
    names = await users.read_names(conn, (user_id,))
    marks = await standing.between(conn, user_id, other_id)
    return Relation(user_id, names.get(user_id), marks.linked, marks.blocks or marks.blocked)


def overlaps(event: AnyEvent, wanted: tuple[str, ...]) -> bool:
    """Whether an event changes what `fetch` reads: that command, or the server that is the template.

    Who is friends with whom has other writers.
    """
    what, id, *_ = wanted
    match event:
        case events.CommandChanged() | events.CommandTouched():
            return what == "command" and event.command.id == id
        case events.ServerChanged():
            return what == "template" and event.row.server_id == id
        case events.SettingsChanged():
            return what == "template" and event.settings.server_id == id
        case events.ExtensionRegistered() | events.ExtensionSeen():
            return what == "template" and event.registration.server_id == id
        case _:
            return False


def absorb(state: State, found: CommandRow | Template | Relation | None) -> State:
    """The state with what was read."""
    match found:
        case CommandRow():
            return msgspec.structs.replace(state, found=found)
        case Template():
            return msgspec.structs.replace(state, template=found)
        case Relation():
            return msgspec.structs.replace(state, relation=found)
        case None:
            return state


def forget(state: State) -> State:
    """The state without it."""
    if state.found is None and state.relation is None and state.template is None:
        return state
    return msgspec.structs.replace(state, found=None, relation=None, template=None)


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
        self.dropped_keys: list[bytes] = []  # claim keys that made room for others
        self.tickets: dict[
            tuple[str, str], TicketRow | None
        ] = {}  # {(server id, user id): the newest; None where it is void}
        self.sessions: dict[tuple[str, str], SessionRow | None] = {}  # the same: None where it has ended
        self.commands: dict[str, CommandRow] = {}  # {command id: as it is at the end}
        self.settings: list[events.SettingsChanged] = []
        self.registrations: dict[
            tuple[str, str], RegistrationRow
        ] = {}  # {(server id, extension id): the newest}
        self.members: dict[
            tuple[str, str], MemberRow | None
        ] = {}  # {(server id, user id): None where they are none any more}
        self.invites: dict[str, InviteRow] = {}  # {invite id: as it is at the end}
        self.dropped: list[str] = []  # invites that are kept no longer
        self.notices: list[NewNotification] = []
        self.removed: list[str] = []

    def take(self, server_id: str, event: AnyEvent) -> None:
        """Take in one more event of a server."""
        match event:
            case events.ServerChanged():
                self.servers[server_id] = event.row
            case events.ClaimKeyIssued():
                self.claim_keys.append(ClaimKeyRow(event.key, server_id, event.expires_at_ms))
                self.dropped_keys += event.dropped
            case events.TicketIssued():
                self.tickets[server_id, event.ticket.user_id] = event.ticket
            case events.TicketVoided():
                self.tickets[server_id, event.ticket.user_id] = None
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
            case events.MembersChanged() | events.InviteCreated() | events.InviteEnded():
                self._take_belonging(server_id, event)

    def _take_belonging(
        self, server_id: str, event: events.MembersChanged | events.InviteCreated | events.InviteEnded
    ) -> None:
        match event:
            case events.MembersChanged():
                self.members |= {(server_id, member.user_id): member for member in event.put}
                self.members |= dict.fromkeys((server_id, user_id) for user_id in event.gone)
            case events.InviteCreated():
                self.invites[event.invite.id] = event.invite
                self.dropped += [] if event.dropped is None else [event.dropped]
                self.notices.append(_notice(event))
            case events.InviteEnded():
                self.invites[event.invite.id] = event.invite

    async def write(self, conn: Connection) -> None:
        """Write all of it."""
        for row in self.servers.values():  # rare: once in the life of most servers
            await servers.change(conn, row)
        if self.claim_keys:
            await servers.add_claim_keys(conn, self.claim_keys)
            await servers.remove_claim_keys(conn, self.dropped_keys)
        if self.tickets:
            await sessions.void_tickets(conn, [key for key, one in self.tickets.items() if one is None])
            await sessions.put_tickets(conn, [one for one in self.tickets.values() if one is not None])
        if self.sessions:
            await sessions.end(conn, list(self.sessions))
            await sessions.start(conn, [one for one in self.sessions.values() if one is not None])
        if self.commands:
            await commands.put(conn, list(self.commands.values()))
        for change in self.settings:
            await settings.put(conn, change.settings)
            await settings.remember(conn, _version(change), keep=VERSIONS_KEPT, keep_bytes=VERSIONS_BYTES)
        for registration in self.registrations.values():
            await extensions.put_registration(conn, registration)
        await self._write_belonging(conn)
        if self.removed:
            await servers.remove(conn, self.removed)

    async def _write_belonging(self, conn: Connection) -> None:
        for (server_id, user_id), member in self.members.items():  # rare, as is the rest
            if member is None:
                await members.remove(conn, server_id, user_id)
            else:
                await members.put(conn, member)
        for invite in self.invites.values():
            await invites.put(conn, invite)
        if self.dropped:
            await invites.remove(conn, self.dropped)
        if self.notices:
            await notifications.add(conn, self.notices)


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


def _notice(event: events.InviteCreated) -> NewNotification:
    invite = event.invite
    data = InviteNotice(
        invite_id=invite.id,
        server_id=invite.server_id,
        server_name=event.server_name,
        role=invite.role,
        note=invite.note,
        expires_at=iso(invite.expires_at_ms),
    )
    return NewNotification(
        id=event.notice_id,
        user_id=invite.invitee_user_id,
        kind="server_invite",
        actor_id=invite.inviter_id,
        data=msgspec.json.encode(data),
        created_at_ms=invite.created_at_ms,
    )


LOOKUPS: Lookups[State, AnyCommand] = Lookups(
    missing=missing, fetch=fetch, absorb=absorb, forget=forget, overlaps=overlaps
)
"""The facet of the kind."""
