"""Passes on to voice the changes of parties and names, and the removal of the servers of voice nodes."""

from functools import partial

from actors.connect import events
from actors.connect.events import ServerNews
from actors.voice.commands import EndSessions, TellRename
from actors.voice.rules import belongs
from actors.voice.state import Reason, State
from routes.changes import reconcile_when_parted
from routes.connect.parts import GAME_SERVERS
from routes.friends.parts import FRIENDS_LIVE
from routes.jobs import BackgroundTask, Job
from routes.party.memberships import MEMBERSHIPS
from routes.service import Service
from routes.users.parts import USER_DIRECTORY
from routes.voice.home import takes_up, tell_channel
from routes.voice.jobs import end_parted
from routes.voice.parts import ATTENDANCE, FLEET, VOICE_KINDS, WAITING_NODES
from routes.voice.reactions import ChannelInDoubt, MissedVoice, show


def follow(service: Service) -> tuple[Job | BackgroundTask, ...]:
    """Subscribe to these changes; returns the task that has waiting heartbeats answered when the process stops."""
    attendance, kinds = service.of(ATTENDANCE), service.of(VOICE_KINDS)

    def server_heard(server_id: str, event: ServerNews) -> None:
        if isinstance(event, events.ServerRemoved):
            service.of(FLEET).remove_of_server(server_id)

    def moved(user_id: str, party_id: str | None) -> None:
        mine = attendance.of_user(user_id)
        channel = None if mine is None else attendance.state(mine[0])
        if channel is not None and channel.party_id not in (None, party_id):
            attendance.doom(user_id, "REMOVED")
        service.system.changed(kinds.own, user_id, party_id or "")

    def joined(state: State, user_id: str) -> None:
        # A block or departure between the turn's check and its commit has found no session to end: check again.
        other_id = state.other_of(user_id)
        parted = other_id is not None and service.of(FRIENDS_LIVE).parted(user_id, other_id)
        if parted or not belongs(state, user_id, kinds.is_member):
            attendance.doom(user_id, "REMOVED")
        attendance.suspect(user_id)

    def node_gone(node_id: str) -> None:
        for state in attendance:
            if state.node_id == node_id:
                show(service, state)

    def renamed(user_id: str, name: str) -> None:
        mine = attendance.of_user(user_id) if takes_up(service) else None
        if mine is not None and not service.system.tell(kinds.channel, mine[0], TellRename(user_id, name)):
            service.reconciler.add(ChannelInDoubt(mine[0]))

    def doomed(channel_id: str, user_id: str, session_id: str, reason: Reason) -> None:
        # A channel that is live ends the session at once; the job sees to the others, and to failures.
        if takes_up(service):
            service.system.tell(kinds.channel, channel_id, EndSessions(((user_id, session_id),), reason))

    async def let_go() -> None:
        await service.lifecycle.wait_draining()
        service.of(WAITING_NODES).close()

    service.of(GAME_SERVERS).news.append(server_heard)
    service.of(MEMBERSHIPS).on_change(moved)
    service.of(USER_DIRECTORY).on_rename(renamed)
    service.of(USER_DIRECTORY).on_access_change(attendance.suspect)
    attendance.suspect("")  # what was taken while no process ran
    attendance.on_joined(joined)
    attendance.on_change(partial(tell_channel, service))
    service.of(FLEET).on_gone(node_gone)
    attendance.on_doom(doomed)
    reconcile_when_parted(service, MissedVoice())
    kinds.in_doubt.append(lambda channel_id: service.reconciler.add(ChannelInDoubt(channel_id)))
    return (
        BackgroundTask("waiting heartbeats of voice nodes", let_go),
        BackgroundTask("voice across a restart", partial(end_parted, service)),
    )
