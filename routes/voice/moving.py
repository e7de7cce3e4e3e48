"""Moves channels away from nodes that drain, are silent, or are gone."""

from zlib import crc32

from actors.voice.commands import MoveTo
from actors.voice.fleet import SILENCE_MS
from actors.voice.state import State
from routes.asking import ask_one_of_many
from routes.service import Service
from routes.voice.parts import ATTENDANCE, FLEET, VOICE_KINDS
from routes.voice.placing import kept_for, least_full

JITTER_MS = 10_000
"""The channels of a draining node move within this time, each at a moment of its own."""

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
    # Before that, a node that seems offline may only not have been heard since the start.
    silence_counts = now_ms - since_ms >= SILENCE_MS
    due = [
        state
        for state in attendance
        if state.sessions
        and state.id not in attendance.passed
        and _must_move(service, state, now_ms, silence_counts)
    ]
    for state in due[:AT_ONCE]:
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
    if len(due) <= AT_ONCE:
        attendance.passed.clear()  # the next walk begins anew


def _must_move(service: Service, state: State, now_ms: int, silence_counts: bool) -> bool:
    node = service.of(FLEET).get(state.node_id)
    if node is None:
        return True
    if node.status == "draining":
        return now_ms - node.status_since_ms >= crc32(state.id.encode()) % JITTER_MS
    return node.status == "offline" and silence_counts
