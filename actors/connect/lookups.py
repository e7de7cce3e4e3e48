"""The rows that one command needs beside the state: which they are, how they are read, and when they are stale."""

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
    RedeemTicket,
)
from actors.connect.events import AnyEvent
from actors.connect.rules_sessions import ticket_of
from actors.connect.state import Relation, State, Template
from actors.kernel.facets import Lookups
from persistence.connect import commands, extensions, servers, settings
from persistence.connect.rows import CommandRow
from persistence.connection import Connection
from persistence.friends import standing
from persistence.users.names import read_names


def missing(  # noqa: PLR0911 - a table
    state: State, command: AnyCommand
) -> tuple[str, ...] | None:
    """What a command needs from the rows: a finished command, the template of a server to be claimed, or how the user
    who is to join or to play is related to another.
    """
    match command:
        case AckCommand() | CancelCommand():
            return None if command.command_id in state.commands else ("command", command.command_id)
        case Claim():
            template_id = state.row.template_id
            unread = state.row.owner_id is None and template_id is not None
            return ("template", template_id) if unread and template_id is not None else None
        case IssueTicket() if state.row.owner_id not in {None, command.user_id}:
            return "relation", command.user_id, state.row.owner_id or ""
        case RedeemTicket():
            ticket = ticket_of(state, command)
            if ticket is None or ticket.used:
                return None
            return "relation", ticket.user_id, state.row.owner_id or ""
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
    """Read what `missing` has named."""
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
    names = await read_names(conn, (user_id,))
    marks = await standing.between(conn, user_id, other_id)
    return Relation(user_id, names.get(user_id), marks.linked, marks.blocks or marks.blocked)


def overlaps(event: AnyEvent, wanted: tuple[str, ...]) -> bool:
    """Whether an event changes what `fetch` reads: that command, or the server that is the template.

    Friendships and blocks are not events of servers, so relations never overlap.
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
        case events.SettingsRemoved() | events.ExtensionRemoved():
            return what == "template"
        case _:
            return False


def absorb(state: State, found: CommandRow | Template | Relation | None) -> State:
    """The state with what `fetch` has read."""
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
    """The state without what `absorb` has added."""
    if state.found is None and state.relation is None and state.template is None:
        return state
    return msgspec.structs.replace(state, found=None, relation=None, template=None)


LOOKUPS: Lookups[State, AnyCommand] = Lookups(
    missing=missing, fetch=fetch, absorb=absorb, forget=forget, overlaps=overlaps
)
"""The lookups of the kind."""
