"""Moves channels away from nodes that drain, are silent, or are gone; and tells nodes whom to remove."""

from collections.abc import Iterable
from zlib import crc32

from actors.voice.commands import MoveTo
from actors.voice.fleet import SILENCE_MS, Node
from actors.voice.state import State
from routes.asking import ask_one_of_many
from routes.service import Service
from routes.voice.parts import ATTENDANCE, FLEET, VOICE_KINDS
from routes.voice.placing import kept_for, least_full

JITTER_MS = 10_000
"""The channels of a draining node move within this time, each at a moment of its own."""

GRACE_MS = 20_000
"""For how long after a move a channel may still be on its former node, since its users are on their way."""

GONE_MS = 30_000
"""After how long a user counts as gone whom the node had, and no longer reports."""

MOST_REMOVED = 500
"""How many orders of one kind one report of a node causes at most."""

AT_ONCE = 200
"""How many channels one run moves at most."""


async def move(service: Service, since_ms: int) -> None:
    """Move the channels whose node is not there any more. They stay where they are as long as there is no other node,
    or they cannot be asked. Of many, each run tries those behind the ones of the run before, so that channels at fault
    hold up no others.

    Cancellation leaves the rest for the next time.

    Args:
        service: the service, with its channels and voice nodes.
        since_ms: the service's start, epoch milliseconds: nodes that were not heard since then get some time.

    Raises:
        PersistenceError: the database cannot be asked; what is left is moved next time.
    """
    now_ms, attendance = service.clock.now_ms(), service.of(ATTENDANCE)
    started = now_ms - since_ms >= SILENCE_MS
    wanting = [
        state
        for state in attendance
        if state.sessions and state.id not in attendance.passed and _wants(service, state, now_ms, started)
    ]
    for state in wanting[:AT_ONCE]:
        attendance.passed.add(state.id)
        user_ids = tuple(state.sessions)
        region = service.of(FLEET).region_of(state.node_id)
        other = least_full(service, region=region, seats=len(user_ids))
        if other is None:
            continue
        with kept_for(service, other, state.id, user_ids) as kept:
            if kept:
                command = MoveTo(state.node_id, other.row.node_id, user_ids)
                await ask_one_of_many(service, service.of(VOICE_KINDS).channel, state.id, command)
    if len(wanting) <= AT_ONCE:
        attendance.passed.clear()  # the next walk begins anew


def compare(service: Service, node: Node, rooms: Iterable[tuple[str, Iterable[str]]], now_ms: int) -> None:
    """Compare the users connected to a node with the sessions there: those without one are removed. Nobody is added.

    One report causes a limited number of orders (`MOST_REMOVED`); the next report causes the rest.

    Args:
        service: the service, with its channels and voice nodes.
        node: the node that has reported.
        rooms: the id of each channel on it, with the ids of the users who are connected.
        now_ms: epoch milliseconds.
    """
    attendance, fleet, node_id = service.of(ATTENDANCE), service.of(FLEET), node.row.node_id
    present: set[str] = set()
    closed: dict[str, None] = {}
    removed: dict[tuple[str, str], int] = {}  # {(channel id, user id): from when on tokens are valid again}
    for channel_id, user_ids in rooms:
        state = attendance.state(channel_id)
        if state is None or state.node_id != node_id:
            moved_ms = attendance.moved_ms(channel_id)
            if moved_ms is None or moved_ms + GRACE_MS <= now_ms:
                closed[channel_id] = None
            continue
        for user_id in user_ids:
            session = state.sessions.get(user_id)
            if session is not None:
                present.add(session.session_id)
            elif len(removed) < MOST_REMOVED:
                # A user who joins in this very second has a token of this second, or of the end of their removal.
                removal = state.removals.get(user_id)
                since_s = 0 if removal is None else removal.not_before_s
                removed[channel_id, user_id] = max(now_ms // 1000, since_s)
    for channel_id, _ in zip(closed, range(MOST_REMOVED), strict=False):
        fleet.order(node_id, "close", channel_id, None)
    for (channel_id, user_id), since_s in removed.items():
        fleet.order(node_id, "remove", channel_id, user_id, not_before_s=since_s)
    for session_id in present:
        node.seen[session_id] = None
    _miss(service, node, present, now_ms)


def _miss(service: Service, node: Node, present: set[str], now_ms: int) -> None:
    attendance = service.of(ATTENDANCE)
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


def repeat(service: Service, node: Node) -> None:
    """Give a node those orders again that still apply: after a restart, none are in memory."""
    attendance, fleet, node_id = service.of(ATTENDANCE), service.of(FLEET), node.row.node_id
    now_ms = service.clock.now_ms()
    for state in attendance:
        if state.node_id != node_id:
            continue
        for user_id, removal in state.removals.items():
            if removal.until_ms > now_ms and user_id not in state.sessions:
                since_s = removal.not_before_s
                fleet.order(node_id, "remove", state.id, user_id, not_before_s=since_s)
        for user_id in state.control.muted_ids:
            if user_id in state.sessions:
                fleet.order(node_id, "mute", state.id, user_id)


def _wants(service: Service, state: State, now_ms: int, started: bool) -> bool:
    node = service.of(FLEET).get(state.node_id)
    if node is None:
        return True
    if node.status == "draining":
        return now_ms - node.moved_ms >= crc32(state.id.encode()) % JITTER_MS
    return node.status == "offline" and started
