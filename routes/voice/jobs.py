"""Periodic jobs of voice: what time does to nodes, sessions and channels."""

from functools import partial

from actors.voice.commands import EndIfEmpty, EndSessions
from persistence.connection import Connection
from persistence.voice import nodes
from persistence.voice.channels import sweep_ended
from routes.asking import ask_if_there
from routes.changes import change_by_itself
from routes.jobs import Job
from routes.pruning import Pruning, pages_of
from routes.service import Service
from routes.voice.moving import move
from routes.voice.parts import ATTENDANCE, FLEET, VOICE_KINDS
from routes.voice.reactions import ChannelInDoubt
from routes.voice.rights import look_at_rights


async def look(service: Service) -> None:
    """Find the nodes and sessions that have fallen silent; end what is to end.

    Raises:
        PersistenceError: the database failed; what is left is done next time.
    """
    fleet, attendance = service.of(FLEET), service.of(ATTENDANCE)
    fleet.silence()
    fleet.expire()
    attendance.look()
    await end_doomed(service)
    await move(service, fleet.since_ms)
    for channel_id in attendance.overdue():
        await ask_if_there(service, service.of(VOICE_KINDS).channel, channel_id, EndIfEmpty())
        state = attendance.state(channel_id)
        if state is not None and service.system.peek(service.of(VOICE_KINDS).channel, channel_id) is None:
            attendance.reconcile(channel_id, None)


async def end_doomed(service: Service) -> None:
    """End the sessions that are to end, channel by channel.

    Raises:
        PersistenceError: the database failed; what is left is ended next time.
    """
    attendance, channel = service.of(ATTENDANCE), service.of(VOICE_KINDS).channel
    for channel_id in tuple(attendance.doomed):
        doomed = attendance.doomed.get(channel_id, {})
        for reason in sorted(set(doomed.values())):
            pairs = tuple(pair for pair, why in doomed.items() if why == reason)
            await ask_if_there(service, channel, channel_id, EndSessions(pairs, reason))
            for pair in pairs:
                doomed.pop(pair, None)
            if any(attendance.holds(channel_id, *pair) for pair in pairs):
                # Its rows had no such session any more, so that nothing has happened to it: its user has joined
                # elsewhere while the channel was not live.
                service.reconciler.add(ChannelInDoubt(channel_id))
        if not doomed:
            attendance.doomed.pop(channel_id, None)


def jobs_of(service: Service) -> tuple[Job, ...]:
    """The jobs."""

    async def write_heard() -> None:
        fleet = service.of(FLEET)
        heard = [(node.row.node_id, node.heard_ms, node.status == "draining") for node in fleet]
        if heard:
            await change_by_itself(service, nodes.save_heard, heard, about=None)

    async def sweep(conn: Connection, after: str | None, limit: int) -> str | None:
        return await sweep_ended(conn, after, limit, now_ms=service.clock.now_ms())

    return (
        Job("silent voice", 1, partial(look, service)),
        Job("rights in voice", 1, partial(look_at_rights, service)),
        Job("heartbeats of voice nodes", 60, write_heard),
        Job("ended voice channels", 600, Pruning(pages_of(service.database, sweep)).run, one_node=True),
    )
