"""Orders to voice nodes that follow from what they report, and those that must be given again."""

from collections.abc import Iterable

from actors.voice.fleet import Node
from actors.voice.state import State
from routes.service import Service
from routes.voice.parts import ATTENDANCE, FLEET

GRACE_MS = 20_000
"""For how long after a move a channel may still be on its former node, since its users are on their way."""

GONE_MS = 30_000
"""After how long a user counts as gone whom the node had, and no longer reports."""

MOST_REMOVED = 500
"""How many orders of one kind one report of a node causes at most."""


def order_what_differs(
    service: Service, node: Node, rooms: Iterable[tuple[str, Iterable[str]]], now_ms: int
) -> None:
    """Compare the users connected to a node with the sessions there: those without one are removed. Nobody is added.

    One report causes a limited number of orders (`MOST_REMOVED`); the next report causes the rest.

    Args:
        service: the service, with its channels and voice nodes.
        node: the node that has reported.
        rooms: the id of each channel on it, with the ids of the users who are connected.
        now_ms: epoch milliseconds.
    """
    fleet, node_id = service.of(FLEET), node.row.node_id
    present: set[str] = set()  # ids of sessions
    closed: dict[str, None] = {}
    removed: dict[tuple[str, str], int] = {}  # {(channel id, user id): from when on tokens are valid again}
    for channel_id, user_ids in rooms:
        state = service.of(ATTENDANCE).state(channel_id)
        if state is None or state.node_id != node_id:
            if not _may_be_leaving(service, channel_id, now_ms):
                closed[channel_id] = None
            continue
        for user_id in user_ids:
            session = state.sessions.get(user_id)
            if session is not None:
                present.add(session.session_id)
            elif len(removed) < MOST_REMOVED:
                removed[channel_id, user_id] = _not_before_s(state, user_id, now_ms)
    for channel_id, _ in zip(closed, range(MOST_REMOVED), strict=False):
        fleet.order(node_id, "close", channel_id, None)
    for (channel_id, user_id), not_before_s in removed.items():
        fleet.order(node_id, "remove", channel_id, user_id, not_before_s=not_before_s)
    _note_seen(service, node, present, now_ms)


def repeat_orders(service: Service, node: Node) -> None:
    """Give a node those orders again that still apply: after a restart, none are in memory."""
    fleet, node_id = service.of(FLEET), node.row.node_id
    now_ms = service.clock.now_ms()
    for state in service.of(ATTENDANCE):
        if state.node_id != node_id:
            continue
        for user_id, removal in state.removals.items():
            if removal.until_ms > now_ms and user_id not in state.sessions:
                fleet.order(node_id, "remove", state.id, user_id, not_before_s=removal.not_before_s)
        for user_id in state.control.muted_ids:
            if user_id in state.sessions:
                fleet.order(node_id, "mute", state.id, user_id)


def _may_be_leaving(service: Service, channel_id: str, now_ms: int) -> bool:
    moved_ms = service.of(ATTENDANCE).moved_ms(channel_id)
    return moved_ms is not None and moved_ms + GRACE_MS > now_ms


def _not_before_s(state: State, user_id: str, now_ms: int) -> int:
    """From when on a user's tokens are valid again, epoch seconds.

    A user who joins in this very second has a token of this second, or of the end of their removal.
    """
    removal = state.removals.get(user_id)
    return max(now_ms // 1000, 0 if removal is None else removal.not_before_s)


def _note_seen(service: Service, node: Node, present: set[str], now_ms: int) -> None:
    """Remember which sessions the node has, and doom those that it had and has missed for too long."""
    attendance = service.of(ATTENDANCE)
    for session_id in present:
        node.seen[session_id] = None
    for session_id, missed_ms in tuple(node.seen.items()):
        user_id = attendance.user_of(session_id)
        mine = None if user_id is None else attendance.of_user(user_id)
        state = None if mine is None or mine[1] != session_id else attendance.state(mine[0])
        if user_id is None or state is None or state.node_id != node.row.node_id:
            del node.seen[session_id]
        elif session_id in present:
            continue
        elif missed_ms is None:
            node.seen[session_id] = now_ms
        elif missed_ms + GONE_MS <= now_ms:
            del node.seen[session_id]
            attendance.doom(user_id, "EXPIRED", session_id)
