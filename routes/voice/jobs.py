"""Periodic jobs of voice: time-outs of nodes, sessions and channels."""

from functools import partial

from actors.kernel.clock import Leaps
from actors.voice import units_nodes
from actors.voice.commands import EndIfEmpty, EndSessions
from actors.voice.fleet import KEPT_MS
from persistence.connection import Connection
from persistence.party.rows import parties_of
from persistence.voice import nodes
from persistence.voice.channels import sweep_ended
from routes.asking import ask_one_of_many
from routes.changes import change_by_itself
from routes.jobs import Job, OneOfMany
from routes.party.memberships import MEMBERSHIPS
from routes.pruning import Pruning, pages_of
from routes.service import Service
from routes.voice.home import takes_up, tell_status
from routes.voice.moving import move
from routes.voice.parts import ATTENDANCE, FLEET, VOICE_KINDS, VOICE_WATCH
from routes.voice.reactions import ChannelInDoubt, NodeInDoubt, end_barred
from routes.voice.rights import look_at_rights


async def look(service: Service) -> None:
    """Find nodes and sessions that have fallen silent; end sessions and channels, and move channels, as that requires.
    Only the node that minds voice does so.

    Raises:
        PersistenceError: the database failed; what is left is done next time.
    """
    fleet, attendance = service.of(FLEET), service.of(ATTENDANCE)
    if not takes_up(service):
        attendance.doomed.clear()
        attendance.suspects.clear()
        return
    await take_over(service)
    for node in fleet.silence():
        tell_status(service, node)
    fleet.expire()
    attendance.look()
    await end_doomed(service)
    await move(service, fleet.since_ms)
    for channel_id in attendance.overdue():
        if await ask_one_of_many(service, service.of(VOICE_KINDS).channel, channel_id, EndIfEmpty()):
            continue
        state = attendance.state(channel_id)
        if state is not None and service.system.peek(service.of(VOICE_KINDS).channel, channel_id) is None:
            attendance.reconcile(channel_id, None)


async def take_over(service: Service) -> None:
    """If this node has just begun to mind voice: ask all channels, of which the former node may not have told
    everything, and end the sessions that it was about to end.

    Raises:
        PersistenceError: blocks cannot be read; the next call tries again.
    """
    watch = service.of(VOICE_WATCH)
    if watch.is_new:
        for state in service.of(ATTENDANCE):
            service.reconciler.add(ChannelInDoubt(state.id))
        await end_parted(service)
        watch.is_new = False


async def end_parted(service: Service) -> None:
    """End sessions of users who left the party, or between whom there is a block, if that was not passed on to voice.

    Rows say who has left: a node that takes voice over may not have heard of everybody who has joined a party.

    Raises:
        PersistenceError: blocks or members of parties cannot be read.
    """
    await end_barred(service)
    attendance, memberships = service.of(ATTENDANCE), service.of(MEMBERSHIPS)
    doubtful = [
        (user_id, session.session_id, state.party_id)
        for state in attendance
        for user_id, session in state.sessions.items()
        if state.party_id is not None and memberships.of(user_id) != state.party_id
    ]
    if not doubtful:
        return
    stored = await service.database.read(parties_of, [user_id for user_id, _, _ in doubtful])
    for user_id, session_id, party_id in doubtful:
        if stored.get(user_id) != party_id:
            attendance.doom(user_id, "REMOVED", session_id)


async def end_doomed(service: Service) -> None:
    """End the sessions that are to end, channel by channel; what one cannot do now is left for the next time.

    Raises:
        PersistenceError: the database cannot be asked; what is left is ended next time.
    """
    attendance, channel = service.of(ATTENDANCE), service.of(VOICE_KINDS).channel
    for channel_id in tuple(attendance.doomed):
        doomed = attendance.doomed.get(channel_id, {})
        for reason in sorted(set(doomed.values())):
            pairs = tuple(pair for pair, why in doomed.items() if why == reason)
            if await ask_one_of_many(service, channel, channel_id, EndSessions(pairs, reason)):
                continue
            for pair in pairs:
                doomed.pop(pair, None)
            if any(attendance.holds(channel_id, *pair) for pair in pairs):
                # The channel's rows had no such session any more, so it did not change: the user has joined another
                # channel while this one was not live.
                service.reconciler.add(ChannelInDoubt(channel_id))
        if not doomed:
            attendance.doomed.pop(channel_id, None)


async def forget_nodes(service: Service) -> None:
    """Remove nodes that have been offline for a week, such as those that were killed and registered anew. Does nothing
    on nodes that do not mind voice.

    Raises:
        DatabaseUnavailable, QueueFull: the database cannot be asked; what is left is done next time.
    """
    fleet = service.of(FLEET)
    gone = fleet.gone() if takes_up(service) else []
    before_ms = service.clock.now_ms() - KEPT_MS
    for node_id in gone:
        with OneOfMany("forgetting a voice node", node_id, service.housekeeping.failing):
            heard_at_ms = await change_by_itself(
                service, units_nodes.forget, node_id, before_ms, about=NodeInDoubt(node_id)
            )
            if heard_at_ms is not None and (node := fleet.get(node_id)) is not None:
                node.heard_ms = max(node.heard_ms, heard_at_ms)


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs of voice."""

    async def write_heard() -> None:
        if not takes_up(service):
            return
        fleet = service.of(FLEET)
        heard = [(node.row.node_id, node.heard_ms, node.status == "draining") for node in fleet]
        if heard:
            await change_by_itself(service, nodes.save_heard, heard, about=None)

    async def sweep(conn: Connection, after: str | None, limit: int) -> str | None:
        return await sweep_ended(conn, after, limit, now_ms=service.clock.now_ms())

    leaps = Leaps(service.clock)

    async def look_awake() -> None:
        if leaps.noticed():
            # As if another node had minded voice meanwhile: nobody could have been heard.
            service.of(VOICE_WATCH).leave()
        await look(service)

    return (
        Job("silent voice", 1, look_awake),
        Job("rights in voice", 1, partial(look_at_rights, service)),
        Job("heartbeats of voice nodes", 60, write_heard),
        Job("voice nodes that are gone", 3600, partial(forget_nodes, service)),
        Job("ended voice channels", 600, Pruning(pages_of(service.database, sweep)).run, one_node=True),
    )
