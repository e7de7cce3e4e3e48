"""The kind of game servers: the record of functions that the kernel runs."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, get_args

from actors.connect import commands, events, loading, persisting
from actors.connect.commands import AnyCommand, Moved
from actors.connect.events import AnyEvent, ServerNews
from actors.connect.lookups import LOOKUPS
from actors.connect.missed import recall
from actors.connect.public import Server, server_of
from actors.connect.rules import apply, decide, due
from actors.connect.rules_commands import known
from actors.connect.rules_members import new_names
from actors.connect.state import State
from actors.connect.stream import Frames
from actors.kernel.facets import Deadlines, Followers, News, Rendering, Unjournaled
from actors.kernel.kind import Event, Kind
from actors.notifications.view import NAME as NOTIFICATIONS
from actors.vault import Vault
from persistence.connect.rows import (
    CommandRow,
    InviteRow,
    MemberRow,
    RegistrationRow,
    ServerRow,
    SessionRow,
    SettingsRow,
)
from persistence.connect.servers import KIND

Answer = (
    Server
    | SessionRow
    | int
    | CommandRow
    | tuple[CommandRow, ...]
    | SettingsRow
    | RegistrationRow
    | MemberRow
    | ServerRow
    | InviteRow
    | Moved
    | None
)


def server_kind(
    vault: Vault,
    hear: Callable[[str, ServerNews], None],
    on_committed: Callable[[State, AnyEvent], None],
    on_copied: Callable[[State, AnyEvent | None], None],
    on_outcome_unknown: Callable[[str], None],
    *,
    gateway_domain: str | None = None,
) -> Kind[State, AnyCommand]:
    """Make the kind of game servers.

    Args:
        vault: seals and opens the secret values of settings.
        hear: called with the id of a server and its news; keeps the caches of credentials and sessions up to date.
        on_committed: called for every committed event.
        on_copied: called for every event of a server on another node that is watched here, with None where some were
            missed.
        on_outcome_unknown: called with the id of a server whose last turn may or may not have been committed, so that
            `hear` and `on_committed` may have missed an event.
        gateway_domain: the domain below which gateway routes stand that belong to no network; None without one.
    """
    frames = Frames(vault)

    return Kind(
        name=KIND,
        version=loading.VERSION,
        events=AnyEvent,
        load=loading.load,
        dump=loading.dump,
        restore=loading.restore,
        decide=partial(decide, vault),
        apply=apply,
        answer=answer,
        persist=partial(persisting.persist, gateway_domain),
        plan=persisting.plan,
        rendering=Rendering(audience=frames.audience, render=frames.render, render_event=frames.render_event),
        lookups=LOOKUPS,
        deadlines=Deadlines(due=due, expire=_expire),
        followers=Followers(
            touches=_touches,
            news=News(of=frozenset(get_args(ServerNews)), hear=hear),
            on_committed=on_committed,
            on_copied=on_copied,
            on_outcome_unknown=on_outcome_unknown,
        ),
        unjournaled=Unjournaled(refresh=loading.refresh, recall=recall),
        crossing=_CROSSING,
        unshown=new_names,
    )


_CROSSING: dict[type[Any], Any] = {
    commands.RemoveServer: None,
    commands.ForgetUser: None,
    commands.TellRename: None,
    commands.RemoveSilent: None,
    commands.EndExpired: None,
    commands.EndConsent: None,
    commands.TakeCommands: tuple[CommandRow, ...],
    commands.MigrateExtension: Moved,
    commands.DropExtension: int,
}


def _touches(_state: State, event: AnyEvent) -> Sequence[tuple[str, Collection[str]]]:
    """An invite changes the notifications of the invited user."""
    if isinstance(event, events.InviteCreated):
        return ((NOTIFICATIONS, (event.invite.invitee_user_id,)),)
    return ()


def answer(  # noqa: PLR0911, PLR0912 - a table
    state: State, command: AnyCommand, happened: Sequence[Event]
) -> Answer:
    """What the caller of a command receives: the server, a session, the changed row, or when something new expires."""
    match command:
        case commands.CreateCommand():
            return next(event.command for event in happened if isinstance(event, events.CommandChanged))
        case commands.TakeCommands():
            changes = (events.CommandChanged, events.CommandTouched)
            return tuple(event.command for event in happened if isinstance(event, changes))
        case commands.AckCommand() | commands.CancelCommand():
            for event in happened:
                if isinstance(event, events.CommandChanged | events.CommandTouched):
                    return event.command
            return known(state, command.command_id)
        case commands.PutSettings():
            return state.settings[command.source]
        case commands.RegisterExtension():
            return state.registrations[command.extension_id]
        case commands.MigrateExtension():
            return Moved(
                settings=_count(happened, events.SettingsRemoved),
                registrations=_count(happened, events.ExtensionRemoved),
            )
        case commands.DropExtension():
            return _count(happened, events.ExtensionRemoved)
        case commands.PutMember():
            return state.members[command.user_id]
        case commands.ChangePolicy():
            return state.row
        case commands.CreateInvite() | commands.AcceptInvite():
            return state.invites[command.invite_id]
        case _:
            return _own_answer(state, command, happened)


def _count(happened: Sequence[Event], wanted: type[Event]) -> int:
    return sum(isinstance(event, wanted) for event in happened)


def _own_answer(state: State, command: AnyCommand, happened: Sequence[Event]) -> Answer:
    for event in happened:
        match event:
            case events.ClaimKeyIssued():
                return event.expires_at_ms
            case events.TicketIssued():
                return event.ticket.expires_at_ms
            case events.SessionStarted():
                return event.session
    match command:
        case commands.Claim() | commands.ChangeServer():
            return server_of(state.row)
        case commands.RotateSecret():
            return state.row.former_until_ms
        case _:
            return None


def _expire(_state: State, _now_ms: int) -> AnyCommand:
    return commands.EndExpired()
