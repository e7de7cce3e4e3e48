"""The rules of a voice channel: which events its commands make, and why they are refused."""

from collections.abc import Callable, Sequence

from actors.errors import Blocked, Conflict, Forbidden, NotFound, Overloaded, QuotaExceeded
from actors.voice import commands
from actors.voice.commands import AnyCommand
from actors.voice.events import (
    AnyEvent,
    ChannelEnded,
    ControlAudited,
    ControlChanged,
    Joined,
    Moved,
    SessionChanged,
    SessionsEnded,
    UserRenamed,
)
from actors.voice.state import EMPTY_MS, RENEWED_MS, SESSION_MS, Control, Session, State

IsMember = Callable[[str, str], bool]
"""Whether the user with the first id is in the party with the second."""


def decide(  # noqa: PLR0911 - a table
    is_member: IsMember, state: State, command: AnyCommand, now_ms: int
) -> Sequence[AnyEvent]:
    """The events of a command, by the rule for its type.

    Raises:
        NotFound: the channel has ended; and any other refusal of the rule, after which nothing has changed.
    """
    if state.ended:
        raise NotFound("no such channel")
    match command:
        case commands.Join():
            return join(state, command, now_ms, is_member)
        case commands.Sync():
            return sync(state, command, now_ms)
        case commands.EndSessions():
            return end_sessions(state, command, now_ms)
        case commands.SetControl():
            return set_control(state, command, now_ms)
        case commands.MoveTo():
            return move_to(state, command, now_ms)
        case commands.EndIfEmpty():
            return end_if_empty(state, now_ms)
        case commands.TellRename():
            return take_rename(state, command)
        case commands.Look():
            return ()


def belongs(state: State, user_id: str, is_member: IsMember) -> bool:
    """Whether a user is one of the pair, or in the party."""
    return user_id in state.pair if state.party_id is None else is_member(user_id, state.party_id)


def join(state: State, command: commands.Join, now_ms: int, is_member: IsMember) -> Sequence[AnyEvent]:
    """Decide on joining.

    Raises:
        NotFound: the user is neither one of the pair nor in the party.
        Blocked: a block stands between the two of a private channel.
        Forbidden: the user was removed less than ten minutes ago.
        Conflict: the channel is locked.
        QuotaExceeded: the channel is full.
        Overloaded: the channel has moved since the seat was kept.
    """
    found, user_id = state.looked_up, command.user_id
    if not belongs(state, user_id, is_member) or found is None or found.name is None:
        raise NotFound("no such channel")
    if found.barred:
        raise Blocked
    removal = state.removals.get(user_id)
    if removal is not None and removal.barred and removal.until_ms > now_ms:
        raise Forbidden("you were removed from this channel; try again later", reason="REMOVED")
    if state.control.locked and user_id not in state.sessions:
        raise Conflict("the channel is locked", reason="LOCKED")
    most = state.control.max_participants
    if user_id not in state.sessions and len(state.sessions) >= most:
        raise QuotaExceeded(max=most, message="the channel is full")
    if command.node_id != state.node_id:
        raise Overloaded("the channel has just moved; try again")
    session = Session(
        session_id=command.session_id,
        user_id=user_id,
        self_mute=command.self_mute,
        self_deaf=command.self_deaf,
        joined_at_ms=now_ms,
        issued_at_ms=now_ms,
        name=found.name,
    )
    return (Joined(session, found.elsewhere, now_ms),)


def sync(state: State, command: commands.Sync, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on a sync, by which a client says that it is still there.

    Raises:
        Conflict: the session has ended.
    """
    session = state.sessions.get(command.user_id)
    if session is None or session.session_id != command.session_id:
        raise Conflict("this session has ended")
    mute = session.self_mute if command.self_mute is None else command.self_mute
    deaf = session.self_deaf if command.self_deaf is None else command.self_deaf
    issued_at_ms = session.issued_at_ms
    if issued_at_ms + SESSION_MS - now_ms <= RENEWED_MS:
        issued_at_ms = now_ms
    if (mute, deaf, issued_at_ms) == (session.self_mute, session.self_deaf, session.issued_at_ms):
        return ()
    return (SessionChanged(session.user_id, session.session_id, mute, deaf, issued_at_ms, now_ms),)


def end_sessions(state: State, command: commands.EndSessions, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on the end of sessions."""
    ended = {
        user_id: session_id
        for user_id, session_id in command.sessions
        if user_id in state.sessions and state.sessions[user_id].session_id == session_id
    }
    return (SessionsEnded(ended, (), command.reason, now_ms),) if ended else ()


def set_control(state: State, command: commands.SetControl, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on a moderator's wishes. If the new limit is below the number of participants, nobody has to leave."""
    before = state.control
    control = Control(
        locked=before.locked if command.locked is None else command.locked,
        muted_ids=before.muted_ids if command.muted_ids is None else tuple(sorted(set(command.muted_ids))),
        max_participants=command.max_participants or before.max_participants,
    )
    happened: list[AnyEvent] = []
    if control != before:
        turned = set(control.muted_ids) ^ set(before.muted_ids)
        renewed = {id: one.session_id for id, one in state.sessions.items() if id in turned}
        happened.append(ControlChanged(control, renewed, now_ms))
    if command.remove_ids:
        removed = tuple(dict.fromkeys(command.remove_ids))
        ended = {id: state.sessions[id].session_id for id in removed if id in state.sessions}
        happened.append(SessionsEnded(ended, removed, "REMOVED", now_ms))
    if happened:
        happened.append(ControlAudited(command.stamp, control, command.remove_ids))
    return happened


def move_to(state: State, command: commands.MoveTo, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on moving to another node; no events if the channel has moved or somebody has joined meanwhile."""
    if state.node_id != command.from_node_id or state.node_id == command.node_id:
        return ()
    if not state.sessions.keys() <= set(command.user_ids):
        return ()
    renewed = {id: one.session_id for id, one in state.sessions.items()}
    return (Moved(command.node_id, renewed, now_ms),)


def end_if_empty(state: State, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on ending a channel; no events if it has not been empty for `EMPTY_MS`."""
    since_ms = state.empty_since_ms
    if since_ms is None or since_ms + EMPTY_MS > now_ms:
        return ()
    return (ChannelEnded(now_ms),)


def take_rename(state: State, command: commands.TellRename) -> Sequence[AnyEvent]:
    """Decide on the report that a user has another name."""
    session = state.sessions.get(command.user_id)
    if session is None or session.name == command.name:
        return ()
    return (UserRenamed(command.user_id, command.name),)
