"""Reactions of memory to changes of nodes and channels, and to blocks; and their reconciliation with the rows."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from actors.errors import NotFound
from actors.friends.events import RelationChanged
from actors.users.events import UserErased
from actors.voice.commands import Look
from actors.voice.own_view import NAME as OWN_VOICE
from actors.voice.own_view import concerned
from actors.voice.state import State
from actors.voice.units_channels import ChannelMade
from actors.voice.units_nodes import NodeGone, NodeKnown
from persistence.friends import blocks
from persistence.voice import channels, nodes
from routes.changes import Reaction, Reconciliation
from routes.party.memberships import MEMBERSHIPS
from routes.service import Service
from routes.voice.home import ChannelSeen, NodeSeen, takes_up, tell_channel
from routes.voice.parts import ATTENDANCE, FLEET, VOICE_KINDS


class NodeInDoubt(NamedTuple):
    """Reconciliation subject: whether there is a node."""

    node_id: str


class ChannelInDoubt(NamedTuple):
    """Reconciliation subject: who is in a channel."""

    channel_id: str


class MissedVoice(msgspec.Struct, frozen=True):
    """Reconciliation subject: which nodes and channels there are, since a node of the service that has ended may not
    have told of all of them."""


def show(service: Service, state: State) -> None:
    """Have the views of all who may see this channel show it again."""
    members = () if state.party_id is None else service.of(MEMBERSHIPS).members(state.party_id)
    service.system.touched(OWN_VOICE, concerned(state, members), state.id)


async def _known(service: Service, event: NodeKnown) -> None:
    """Take in a node, unless it has gone again, of which memory may have been told before."""
    fleet, row = service.of(FLEET), event.row
    with fleet.reading() as gone:
        there = await service.database.read(nodes.read, row.node_id) is not None
    if there and gone.isdisjoint((row.node_id, row.server_id)):
        fleet.put(row)


def _gone(service: Service, event: NodeGone) -> None:
    service.of(FLEET).remove(event.node_id)


def _made(service: Service, event: ChannelMade) -> None:
    if service.of(ATTENDANCE).state(event.state.id) is None:
        service.of(ATTENDANCE).take(event.state)


def _seen(service: Service, event: ChannelSeen) -> None:
    before = service.of(ATTENDANCE).state(event.state.id)
    service.of(ATTENDANCE).take_of_other(event.state, event.speaking)
    for state in (before, event.state):
        if state is not None:
            show(service, state)


def _node_seen(service: Service, event: NodeSeen) -> None:
    node = service.of(FLEET).get(event.node_id)
    if node is not None:
        node.turn(event.status, service.clock.now_ms())


def _parted(service: Service, event: RelationChanged) -> None:
    """After a block between two users, end the sessions of their private channel."""
    if not event.between.blockers:
        return
    attendance = service.of(ATTENDANCE)
    state = attendance.of_pair(event.one_id, event.other_id)
    if state is not None:
        for session in state.sessions.values():
            attendance.doom(session.user_id, "REMOVED", session.session_id)


def _erased(service: Service, event: UserErased) -> None:
    """A channel at fault could not let the user go, and tells nobody that the row of their session is gone."""
    state = service.of(ATTENDANCE).take_out(event.user_id)
    if state is not None:
        show(service, state)


async def _ask_node(
    service: Service, about: NodeInDoubt, _events: Sequence[object]
) -> tuple[NodeKnown | NodeGone]:
    row = await service.database.read(nodes.read, about.node_id)
    return (NodeGone(about.node_id) if row is None else NodeKnown(row),)


async def _ask_channel(service: Service, about: ChannelInDoubt, _events: Sequence[object]) -> tuple[()]:
    attendance, channel_id = service.of(ATTENDANCE), about.channel_id
    before = attendance.state(channel_id)
    try:
        now: State | None = await service.system.ask(service.of(VOICE_KINDS).channel, channel_id, Look())
    except NotFound:
        now = None
    attendance.reconcile(channel_id, now)
    for state in (before, now):
        if state is not None:
            show(service, state)
    known = now if now is not None or before is None else replace(before, sessions={}, ended=True)
    if known is not None and takes_up(service):
        tell_channel(service, known)
    return ()


async def _look(service: Service, _about: MissedVoice, _events: Sequence[object]) -> tuple[()]:
    """Take in the nodes that rows have, and have channels asked for of which memory and rows do not both know.

    Of what is in the others, whoever minds voice from now on asks all (`jobs.take_over`). Blocks are looked at by this
    one, since the node that has ended may have been the only one to know of a new one."""
    there = set(await service.database.read(channels.ids))
    for channel_id in sorted(there ^ {state.id for state in service.of(ATTENDANCE)}):
        service.reconciler.add(ChannelInDoubt(channel_id))
    known = {node.row.node_id for node in service.of(FLEET)}
    rows = await service.database.read(nodes.read_all)
    for row in rows:
        if row.node_id not in known:
            await _known(service, NodeKnown(row))
    for node_id in known - {row.node_id for row in rows}:
        service.of(FLEET).remove(node_id)
    await end_barred(service)
    return ()


async def end_barred(service: Service) -> None:
    """End the sessions in private channels of two users between whom there is a block.

    Raises:
        PersistenceError: blocks cannot be read.
    """
    attendance = service.of(ATTENDANCE)
    for state in attendance:
        if not state.sessions or state.low_id is None or state.high_id is None:
            continue
        if await service.database.read(blocks.barred_among, state.low_id, (state.high_id,)):
            for session in state.sessions.values():
                attendance.doom(session.user_id, "REMOVED", session.session_id)


REACTIONS = (
    Reaction(NodeKnown, _known),
    Reaction(NodeGone, _gone),
    Reaction(ChannelMade, _made),
    Reaction(ChannelSeen, _seen),
    Reaction(NodeSeen, _node_seen),
    Reaction(RelationChanged, _parted),
    Reaction(UserErased, _erased),
)

RECONCILIATIONS = (
    Reconciliation(NodeInDoubt, _ask_node),
    Reconciliation(ChannelInDoubt, _ask_channel),
    Reconciliation(MissedVoice, _look),
)
