"""Chooses the node that carries a channel, and keeps seats there for users who join."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import trio

from actors.errors import Overloaded, QuotaExceeded, Refused
from actors.voice.commands import MoveTo
from actors.voice.fleet import Node
from actors.voice.state import State
from persistence.errors import OutcomeUnknown
from routes.edge.errors import UpstreamUnavailable
from routes.service import Service
from routes.voice.parts import ATTENDANCE, FLEET, VOICE_KINDS
from routes.voice.reactions import ChannelInDoubt


def least_full(service: Service, *, region: str | None = None, seats: int = 1) -> Node | None:
    """The least full online node with enough seats left, in the region if it has one, else anywhere; None if none has.

    Args:
        service: the service, with its voice nodes.
        region: the region that is preferred; None for any.
        seats: how many seats must be left.
    """
    counted = service.of(ATTENDANCE).seats
    fitting = [
        node
        for node in service.of(FLEET)
        if node.status == "online" and counted.used(node.row.node_id) + seats <= node.row.capacity
    ]
    near = [node for node in fitting if node.row.region == region] or fitting
    return min(near, key=lambda node: counted.used(node.row.node_id) / node.row.capacity, default=None)


def unplaced(service: Service) -> Refused:
    """Why no node can take a channel in: those that are online are too full for it, or none is online.

    Args:
        service: the service, with its voice nodes.
    """
    largest = max((node.row.capacity for node in service.of(FLEET) if node.status == "online"), default=None)
    if largest is None:
        return UpstreamUnavailable("no voice node is online")
    return QuotaExceeded(max=largest, message="the voice nodes are full")


async def carried(service: Service, state: State, user_id: str) -> State:
    """The channel on a node that is available: it is moved to another one if its own is not.

    Cancellation: it may have moved.

    Args:
        service: the service, with its voice nodes.
        state: the channel.
        user_id: the user who is about to join, for whom there must be a seat on the other node, too.

    Raises:
        UpstreamUnavailable: no node is online.
        QuotaExceeded: those that are online have too few seats left.
        Overloaded: it was not moved, since others come in at this moment.
        NotFound: the channel has just ended.
        PersistenceError: it could not be moved, or that is not known.
    """
    node = service.of(FLEET).get(state.node_id)
    if node is not None and node.status != "offline":
        return state
    user_ids = tuple({**state.sessions, user_id: None})
    other = least_full(service, region=service.of(FLEET).region_of(state.node_id), seats=len(user_ids))
    if other is None:
        raise unplaced(service)
    with kept_for(service, other, state.id, user_ids):
        command = MoveTo(state.node_id, other.row.node_id, user_ids)
        moved: State = await service.system.ask(service.of(VOICE_KINDS).channel, state.id, command)
    if moved.node_id == state.node_id:
        raise Overloaded("the channel is just moving; try again")
    return moved


@contextmanager
def kept_for(service: Service, node: Node, channel_id: str, user_ids: Collection[str]) -> Iterator[bool]:
    """Keep seats on a node for these users while they come into a channel, or it moves there; yields whether there are
    enough seats.

    If it is unknown whether they came in, the seats are kept until it is known.
    """
    seats, node_id = service.of(ATTENDANCE).seats, node.row.node_id
    kept = seats.keep(node_id, user_ids, node.row.capacity)
    known = True
    try:
        yield kept
    except (OutcomeUnknown, trio.Cancelled):
        known = False
        if kept:
            seats.doubt(channel_id, node_id, user_ids)
            service.reconciler.add(ChannelInDoubt(channel_id))
        raise
    finally:
        if kept and known:
            seats.release(node_id, user_ids)


@contextmanager
def seat(service: Service, state: State, user_id: str) -> Iterator[None]:
    """Keep a seat on the channel's node for a user while they join.

    Raises:
        QuotaExceeded: the node is full.
        UpstreamUnavailable: the node has just gone.
    """
    node = service.of(FLEET).get(state.node_id)
    if node is None:
        raise UpstreamUnavailable("no voice node is online")
    with kept_for(service, node, state.id, (user_id,)) as kept:
        if not kept:
            raise QuotaExceeded(max=node.row.capacity, message="the voice node is full")
        yield
