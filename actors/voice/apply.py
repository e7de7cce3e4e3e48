"""The channel after an event: defined for every event in every state."""

from collections.abc import Container

from msgspec.structs import replace

from actors.voice import events
from actors.voice.events import AnyEvent
from actors.voice.fleet import void_before_s
from actors.voice.state import MOST_REMOVALS, REMOVED_MS, Removal, Session, State, in_order


def apply(state: State, event: AnyEvent) -> State:
    """The state after the event; each journaled event makes a new revision."""
    if isinstance(event, events.UserRenamed):
        return _changed(state, event.user_id, name=event.name)
    if isinstance(event, events.ControlAudited):
        return state
    after = _applied(state, event)
    return replace(after, revision=state.revision + 1, looked_up=None)


def _applied(state: State, event: events.Journaled) -> State:
    match event:
        case events.Joined(session=session):
            sessions = in_order({**state.sessions, session.user_id: session}.values())
            return replace(state, sessions=sessions, empty_since_ms=None)
        case events.SessionsEnded():
            return _ended(state, event)
        case events.SessionChanged():
            return _changed(
                state,
                event.user_id,
                self_mute=event.self_mute,
                self_deaf=event.self_deaf,
                issued_at_ms=event.issued_at_ms,
            )
        case events.ControlChanged(control=control):
            return replace(_issued(state, event.renewed, event.at_ms), control=control)
        case events.Moved():
            return replace(_issued(state, event.renewed, event.at_ms), node_id=event.node_id)
        case events.ChannelEnded():
            return replace(state, ended=True)


def _ended(state: State, event: events.SessionsEnded) -> State:
    gone = {
        id for id, session_id in event.sessions.items() if _session_id(state.sessions.get(id)) == session_id
    }
    left = {id: one for id, one in state.sessions.items() if id not in gone}
    removals = {id: one for id, one in state.removals.items() if one.until_ms > event.at_ms}
    for id in (*event.sessions, *event.barred):
        before = removals.pop(id, None)
        barred = id in event.barred or (before is not None and before.barred)
        removals[id] = Removal(event.at_ms + REMOVED_MS, void_before_s(event.at_ms), barred)
    while len(removals) > MOST_REMOVALS:
        del removals[next(iter(removals))]
    since_ms = event.at_ms if not left and state.empty_since_ms is None else state.empty_since_ms
    return replace(state, sessions=left, removals=removals, empty_since_ms=since_ms)


def _session_id(session: Session | None) -> str | None:
    return None if session is None else session.session_id


def _issued(state: State, user_ids: Container[str], at_ms: int) -> State:
    sessions = {
        id: replace(one, issued_at_ms=at_ms) if id in user_ids else one for id, one in state.sessions.items()
    }
    return replace(state, sessions=sessions)


def _changed(state: State, user_id: str, **fields: object) -> State:
    session = state.sessions.get(user_id)
    if session is None:
        return state
    return replace(state, sessions={**state.sessions, user_id: replace(session, **fields)})
