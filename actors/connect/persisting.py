"""The rows of a batch of turns of game servers."""

from collections.abc import Collection, Sequence

import msgspec

from actors.connect import events
from actors.connect.events import AnyEvent
from actors.connect.public_members import InviteNotice
from actors.connect.room import check_owned
from actors.discord.posting import post
from actors.networks.units_gateway_routes import remove_left, remove_of_servers
from actors.networks.units_networks import check_placed
from actors.publications.units_ownership import prove_addresses_of_servers
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
from persistence.discord.rows import Subject
from persistence.journal.turn import Statement, Turn
from persistence.notifications.notifications import NewNotification
from persistence.quests import visits
from persistence.quests.visits import Visit
from persistence.users.users import keep_users

VERSIONS_KEPT = 100
"""The most versions kept of the settings of one source."""

VERSIONS_BYTES = 4 * 1024 * 1024
"""The most bytes of all versions of a server's settings; the oldest are deleted."""


async def persist(
    gateway_domain: str | None, conn: Connection, turns: Sequence[Turn]
) -> Sequence[NewNotification]:
    """Write the rows of all turns, inside the writer's transaction.

    Args:
        gateway_domain: the domain below which gateways give out names, so that a route there stays when its server
            leaves a network; None without one.

    Returns:
        The notifications of who was invited.
    """
    changes = Changes(gateway_domain)
    for turn in turns:
        for event in turn.events:
            changes.take(turn.id, event)
    await changes.write(conn)
    return changes.notices


def plan(turns: Sequence[Turn]) -> list[Statement] | None:
    """The statements that `persist` would run when only commands have changed, the most frequent case; else None."""
    moved = CommandChanges()
    for turn in turns:
        for event in turn.events:
            if not isinstance(event, events.CommandChanged | events.CommandTouched):
                return None
            moved.take(event)
    return moved.statements()


class CommandChanges:
    """The changes to commands: whole rows of new ones, and of others the columns that may change."""

    def __init__(self) -> None:
        self._new: dict[str, CommandRow] = {}  # {command id: as it is at the end}
        # {command id: the same, and whether its row has its result already}
        self._moved: dict[str, tuple[CommandRow, bool]] = {}

    def take(self, event: events.CommandChanged | events.CommandTouched) -> None:
        """Take in an event: its command's row is written as the newest event leaves it."""
        row = event.command
        if row.version == 1 or row.id in self._new:
            self._new[row.id] = row
        else:
            _, kept = self._moved.get(row.id, (row, True))
            self._moved[row.id] = row, kept and event.result_kept

    def statements(self) -> list[Statement]:
        """The statements that write the changes; no two of them write the same row."""
        return [
            *([commands.putting(list(self._new.values()))] if self._new else []),
            *([commands.moving(list(self._moved.values()))] if self._moved else []),
        ]


class Changes:
    """The row changes of many turns, by table. One actor has at most one turn among them.

    Args:
        gateway_domain: the domain below which gateways give out names, so that a route there stays when its server
            leaves a network; None without one.
    """

    def __init__(self, gateway_domain: str | None) -> None:
        self._gateway_domain = gateway_domain
        self.left: dict[str, str] = {}  # {server id: the network that it was in before, and has left}
        self.servers: dict[str, ServerRow] = {}  # {server id: its own row at the end}
        self.taken: set[str] = set()  # those that have got their owner
        self.entered: set[str] = set()  # those that have come into their network
        self.claim_keys: list[ClaimKeyRow] = []
        self.dropped_keys: list[bytes] = []  # claim keys that newer ones have replaced
        # {(server id, user id): the newest; None where it is void, has ended, or was removed}
        self.tickets: dict[tuple[str, str], TicketRow | None] = {}
        self.sessions: dict[tuple[str, str], SessionRow | None] = {}
        self.visits: list[Visit] = []  # those that have ended, which are still to be counted
        self.members: dict[tuple[str, str], MemberRow | None] = {}
        self.commands = CommandChanges()
        self.settings: list[events.SettingsChanged] = []
        self.no_settings: set[tuple[str, str]] = set()  # (server id, source) of what is gone at the end
        # {(server id, extension id): the newest; None where it was removed}
        self.registrations: dict[tuple[str, str], RegistrationRow | None] = {}
        self.joined: list[MemberRow] = []
        self.invites: dict[str, InviteRow] = {}  # {invite id: as it is at the end}
        self.sent: set[str] = set()  # those of them that have no row yet
        self.dropped: list[str] = []  # invites that are kept no longer
        self.notices: list[NewNotification] = []
        self.removed: dict[str, int] = {}  # {server id: when, epoch milliseconds}

    def take(  # noqa: PLR0912 - a table
        self, server_id: str, event: AnyEvent
    ) -> None:
        """Add an event of a server."""
        match event:
            case events.ServerChanged():
                self.servers[server_id] = event.row
                self.taken |= {server_id} if event.taken else set()
                self.entered |= {server_id} if event.entered else set()
                if event.left is not None:
                    self.left.setdefault(server_id, event.left)
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
                self.visits.append(_visit(event))
            case events.CommandChanged() | events.CommandTouched():
                self.commands.take(event)
            case events.SettingsChanged():
                self.settings.append(event)
                self.no_settings.discard((server_id, event.settings.source))
            case events.SettingsRemoved():
                self.no_settings.add((server_id, event.source))
            case events.ExtensionRemoved():
                self.registrations[server_id, event.extension_id] = None
            case events.ExtensionRegistered() | events.ExtensionSeen():
                self.registrations[server_id, event.registration.extension_id] = event.registration
            case events.ServerRemoved():
                self.removed[server_id] = event.at_ms
            case events.MembersChanged() | events.InviteCreated() | events.InviteEnded():
                self._take_belonging(server_id, event)

    def _take_belonging(
        self, server_id: str, event: events.MembersChanged | events.InviteCreated | events.InviteEnded
    ) -> None:
        match event:
            case events.MembersChanged():
                self.members |= {(server_id, member.user_id): member for member in event.put}
                self.joined += [one for one in event.put if one.created_at_ms == one.updated_at_ms]
                self.members |= dict.fromkeys((server_id, user_id) for user_id in event.gone)
            case events.InviteCreated():
                self.invites[event.invite.id] = event.invite
                self.sent.add(event.invite.id)
                self.dropped += [] if event.dropped is None else [event.dropped]
                self.notices.append(_notice(event))
            case events.InviteEnded():
                self.invites[event.invite.id] = event.invite

    async def write(self, conn: Connection) -> None:
        """Write all changes but the notices, inside the writer's transaction."""
        # Users are locked before their rows: who erases one waits for these rows, and this must not wait for them.
        there = await keep_users(conn, {one.user_id for one in self.visits}) if self.visits else set()
        if self.servers or self.removed:  # rare: once in the life of most servers
            gaining = {self.servers[id].owner_id for id in self.taken | self.entered}
            for owner_id in sorted(filter(None, gaining)):
                await servers.hold_gains(conn, owner_id)
            await servers.hold(conn, self.servers.keys() | self.removed.keys())
            await self._write_servers(conn)
        if self.claim_keys:
            await servers.add_claim_keys(conn, self.claim_keys)
            await servers.remove_claim_keys(conn, self.dropped_keys)
        if self.tickets:
            await sessions.void_tickets(conn, [key for key, one in self.tickets.items() if one is None])
            await sessions.put_tickets(conn, [one for one in self.tickets.values() if one is not None])
        if self.sessions:
            await self._write_sessions(conn, there)
        for statement in self.commands.statements():
            await conn.execute(statement.sql, *statement.parameters)
        for change in self.settings:
            await settings.put(conn, change.settings)
            await settings.remember(conn, _version(change), keep=VERSIONS_KEPT, keep_bytes=VERSIONS_BYTES)
        for server_id, source in self.no_settings:  # rare, as is the rest
            await settings.remove(conn, server_id, source)
        for (server_id, extension_id), registration in self.registrations.items():
            if registration is None:
                await extensions.remove_registration(conn, server_id, extension_id)
            else:
                await extensions.put_registration(conn, registration)
        await self._write_belonging(conn)
        if self.removed:
            gone, at_ms = list(self.removed), max(self.removed.values())
            await remove_of_servers(conn, gone, self._gateway_domain, at_ms)
            await servers.remove(conn, gone)

    async def _write_servers(self, conn: Connection) -> None:
        for server_id, row in self.servers.items():
            await servers.change(conn, row, taken=server_id in self.taken)
        for owner_id in filter(None, {self.servers[id].owner_id for id in self.taken}):
            await check_owned(conn, owner_id)
        for network_id in filter(None, {self.servers[id].network_id for id in self.entered}):
            await check_placed(conn, network_id)
        if self.left:
            now_ms = max(self.servers[server_id].updated_at_ms for server_id in self.left)
            await remove_left(conn, self.left, self._gateway_domain, now_ms)
        if self.entered:
            now_ms = max(self.servers[server_id].updated_at_ms for server_id in self.entered)
            await prove_addresses_of_servers(
                conn, self.entered, gateway_domain=self._gateway_domain, now_ms=now_ms
            )

    async def _write_sessions(self, conn: Connection, there: Collection[str]) -> None:
        await sessions.end(conn, list(self.sessions))
        await sessions.start(conn, [one for one in self.sessions.values() if one is not None])
        if there:  # else nobody has left whose visit would count
            await visits.end(conn, [one for one in self.visits if one.user_id in there])

    async def _write_belonging(self, conn: Connection) -> None:
        for (server_id, user_id), member in self.members.items():  # rare, as is the rest
            if member is None:
                await members.remove(conn, server_id, user_id)
            else:
                await members.put(conn, member)
        for one in self.joined:
            about = Subject(server_id=one.server_id, user_id=one.user_id)
            await post(conn, "member_joined", about, one.created_at_ms)
        for invite in self.invites.values():
            await (invites.add if invite.id in self.sent else invites.end)(conn, invite)
        if self.dropped:
            await invites.remove(conn, self.dropped)


def _visit(event: events.SessionEnded) -> Visit:
    session = event.session
    return Visit(
        session.id, session.server_id, session.user_id, session.started_at_ms, event.at_ms, event.own
    )


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
