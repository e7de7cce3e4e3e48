"""The rules of a game server's actor: pure (service-api §3 Connect, contract §2 and §7).

| command       | by     | unclaimed                             | claimed                           |
|---------------|--------|---------------------------------------|-----------------------------------|
| IssueClaimKey | server | a key                                 | nothing                           |
| Claim         | user   | claimed, if the key is valid          | CLAIM_KEY_USED                    |
| RotateSecret  | owner  | NOT_FOUND                             | another secret; 10 minutes for the old |
| ChangeServer  | owner  | NOT_FOUND                             | changed                           |
| RemoveServer  | owner  | NOT_FOUND                             | removed                           |
| RemoveSilent  | job    | removed                               | removed if temporary              |

Players' sessions, commands, settings, extensions, members and invites have rules, and tables, of their own
(`rules_sessions.py` and its neighbours).
"""

from collections.abc import Iterable, Mapping, Sequence
from hmac import compare_digest
from typing import TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from actors.connect import (
    commands,
    events,
    rules_commands,
    rules_extensions,
    rules_invites,
    rules_members,
    rules_services,
    rules_sessions,
    rules_settings,
)
from actors.connect.capabilities import capabilities_of
from actors.connect.commands import AnyCommand
from actors.connect.consent import consent_ended, session_ended
from actors.connect.events import AnyEvent
from actors.connect.state import CLAIM_KEYS_KEPT, State, Template
from actors.errors import ClaimKeyExpired, ClaimKeyUsed, Forbidden, NotFound
from actors.vault import Vault

T = TypeVar("T")

CLAIM_KEY_MS = 300_000
"""How long a claim key is valid (contract §7)."""

FORMER_SECRET_MS = 10 * 60_000
"""How long a secret remains valid after it was replaced (contract §2)."""


def decide(  # noqa: PLR0911 - a table
    vault: Vault, state: State, command: AnyCommand, now_ms: int
) -> Sequence[AnyEvent]:
    """Decide on a command: the events that it makes.

    Args:
        vault: seals secret values.
        now_ms: the turn's time, epoch milliseconds.

    Raises:
        NotFound: the server is removed; and any other refusal of the command's rule, after which nothing has changed.
    """
    if state.removed:
        raise NotFound
    match command:
        case commands.CreateCommand():
            return rules_commands.create(state, command, now_ms)
        case commands.TakeCommands():
            return rules_commands.take(state, command, now_ms)
        case commands.AckCommand():
            return rules_commands.ack(state, command, now_ms)
        case commands.CancelCommand():
            return rules_commands.cancel(state, command, now_ms)
        case commands.PutSettings():
            return rules_settings.put(vault, state, command, now_ms)
        case commands.RegisterExtension():
            return rules_extensions.register(state, command, now_ms)
        case commands.MigrateExtension():
            return rules_services.migrate(vault, state, command, now_ms)
        case commands.DropExtension():
            return rules_services.drop(state, command, now_ms)
        case (
            commands.CreateInvite()
            | commands.RevokeInvite()
            | commands.AcceptInvite()
            | commands.DeclineInvite()
        ):
            return rules_invites.decide(state, command, now_ms)
        case (
            commands.PutMember()
            | commands.RemoveMember()
            | commands.ForgetUser()
            | commands.TellRename()
            | commands.ChangePolicy()
        ):
            return rules_members.decide(state, command, now_ms)
        case _:
            return _decide(state, command, now_ms)


def _decide(  # noqa: PLR0911 - a table
    state: State, command: commands.OwnCommand | commands.SessionCommand, now_ms: int
) -> Sequence[AnyEvent]:
    match command:
        case commands.IssueClaimKey():
            if state.row.owner_id is not None:
                return ()
            dropped = tuple(state.claim_keys)[: max(0, len(state.claim_keys) + 1 - CLAIM_KEYS_KEPT)]
            return (events.ClaimKeyIssued(command.key, now_ms + CLAIM_KEY_MS, dropped),)
        case commands.Claim():
            return _claim(state, command, now_ms)
        case commands.RotateSecret():
            return _rotate(state, command, now_ms)
        case commands.ChangeServer():
            return _change(state, command, now_ms)
        case commands.RemoveServer():
            _check_owner(state, command.user_id)
            return _remove(state, now_ms)
        case commands.RemoveSilent():
            fleeting = state.row.owner_id is None or state.row.temporary
            return _remove(state, now_ms) if fleeting else ()
        case commands.IssueTicket() | commands.RedeemTicket() | commands.EndSession() | commands.EndConsent():
            return rules_sessions.decide(state, command, now_ms)
        case commands.EndExpired():
            ended = (one for one in state.sessions.values() if one.expires_at_ms <= now_ms)
            sessions = [session_ended(state, session, now_ms) for session in ended]
            return [*sessions, *rules_commands.ended_by_time(state, now_ms)]


def due(state: State) -> int | None:
    """When the next session or command expires, or the next lease ends; None when there is none, or the server is
    removed.
    """
    if state.removed:  # nothing is decided any more: what stayed due would be asked for each second, for ever
        return None
    # All sessions last equally long, so the oldest is the first to expire.
    session = next((session.expires_at_ms for session in state.sessions.values()), None)
    command = rules_commands.next_end(state)
    if session is None or command is None:
        return command if session is None else session
    return min(session, command)


def _check_owner(state: State, user_id: str) -> None:
    if state.row.owner_id is None or state.row.owner_id != user_id:
        raise Forbidden("only for the server's owner") if capabilities_of(state, user_id) else NotFound


def _claim(state: State, command: commands.Claim, now_ms: int) -> Sequence[AnyEvent]:
    if state.row.owner_id is not None:
        raise ClaimKeyUsed
    if not any(
        compare_digest(key, command.key) and ends_at_ms > now_ms
        for key, ends_at_ms in state.claim_keys.items()
    ):
        raise ClaimKeyExpired
    template = state.template
    if template is None or template.owner_id != command.user_id:
        template = Template(None)
    copied = tuple(_copied_settings(state, template, command.user_id, now_ms))
    row = replace(
        state.row,
        owner_id=command.user_id,
        owner_name=command.name,
        temporary=state.row.temporary or any(rules_settings.said_temporary(one.settings) for one in copied),
        access_mode=template.access_mode,
        invite_requires_direct_friend=template.invite_requires_direct_friend,
        updated_at_ms=now_ms,
    )
    former = (state.row.access_mode, state.row.invite_requires_direct_friend)
    moved = former != (row.access_mode, row.invite_requires_direct_friend)
    policy = (rules_members.policy_of(row),) if moved else ()
    forgotten = rules_members.forget_all(state)
    return (
        *consent_ended(state, now_ms),
        events.ServerChanged(row, taken=True),
        *policy,
        *forgotten,
        *copied,
        *_copied_registrations(state, template, now_ms),
    )


def _copied_settings(
    state: State, template: Template, owner_id: str, now_ms: int
) -> Iterable[events.SettingsChanged]:
    """The settings of the template, of each source that the server has none of."""
    for settings in template.settings:
        if settings.source not in state.settings:
            row = replace(settings, server_id=state.id, version=1, updated_at_ms=now_ms, updated_by=owner_id)
            keys = {*rules_settings.data_of(settings), *settings.secret_keys}
            yield events.SettingsChanged(row, tuple(sorted(keys)))


def _copied_registrations(
    state: State, template: Template, now_ms: int
) -> Iterable[events.ExtensionRegistered]:
    """The registrations of the template, of each extension that the server has not registered."""
    for registration in template.registrations:
        if registration.extension_id not in state.registrations:
            yield events.ExtensionRegistered(
                replace(
                    registration,
                    server_id=state.id,
                    version=1,
                    registered_at_ms=now_ms,
                    last_seen_at_ms=now_ms,
                )
            )


def _rotate(state: State, command: commands.RotateSecret, now_ms: int) -> Sequence[AnyEvent]:
    _check_owner(state, command.user_id)
    row = replace(
        state.row,
        secret=command.secret,
        secret_number=state.row.secret_number + 1,
        former_secret=state.row.secret,
        former_until_ms=now_ms + FORMER_SECRET_MS,
        updated_at_ms=now_ms,
    )
    return (events.ServerChanged(row),)


def _change(state: State, command: commands.ChangeServer, now_ms: int) -> Sequence[AnyEvent]:
    _check_owner(state, command.user_id)
    row, former_id = state.row, state.row.network_id
    if command.network_id is not UNSET:
        row = replace(row, network_id=command.network_id)
    if command.is_template is not UNSET:
        row = replace(row, is_template=command.is_template)
    if row == state.row:
        return ()
    left = None if row.network_id == former_id else former_id
    entered = row.network_id not in (None, former_id)
    return (events.ServerChanged(replace(row, updated_at_ms=now_ms), left, entered=entered),)


def _remove(state: State, now_ms: int) -> Sequence[AnyEvent]:
    ended = [session_ended(state, session, now_ms) for session in state.sessions.values()]
    return [*ended, events.ServerRemoved(now_ms)]


def apply(  # noqa: PLR0911 - a table
    state: State, event: AnyEvent
) -> State:
    """The state after the event."""
    match event:
        case events.CommandChanged() | events.CommandTouched():
            return rules_commands.with_command(state, event.command)
        case events.LeaseEnded():
            return rules_commands.without_lease(state, event.command_id)
        case events.SettingsChanged():
            return replace(state, settings={**state.settings, event.settings.source: event.settings})
        case events.ExtensionRegistered() | events.ExtensionSeen():
            return rules_extensions.with_registration(state, event.registration)
        case events.SettingsRemoved():
            return replace(state, settings=_without(state.settings, event.source))
        case events.ExtensionRemoved():
            return rules_extensions.without_registration(state, event.extension_id)
        case events.MembersChanged():
            return rules_members.with_members(state, event.put, event.gone)
        case events.MemberRenamed():
            return rules_members.with_name(state, event.user_id, event.name)
        case events.InviteCreated() | events.InviteEnded():
            return rules_invites.with_invite(state, event)
        case (
            events.PolicyChanged() | events.CommandNoted() | events.SettingsNoted() | events.ExtensionNoted()
        ):
            return state  # the server's row has come already; the others are read with the rest of the rows
        case _:
            return _apply(state, event)


def _apply(state: State, event: events.OwnEvent | events.SessionEvent) -> State:
    match event:
        case events.ClaimKeyIssued():
            kept = {key: ends for key, ends in state.claim_keys.items() if key not in event.dropped}
            return replace(state, claim_keys={**kept, event.key: event.expires_at_ms})
        case events.ServerChanged():
            keys = state.claim_keys if event.row.owner_id is None else {}
            return replace(state, row=event.row, claim_keys=keys, template=None)
        case events.TicketIssued() | events.TicketVoided() | events.SessionStarted() | events.SessionEnded():
            return rules_sessions.with_session(state, event)
        case events.ServerRemoved():
            return replace(state, removed=True)


def _without(rows: Mapping[str, T], key: str) -> dict[str, T]:
    return {one: row for one, row in rows.items() if one != key}
