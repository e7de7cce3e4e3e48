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
    attendance, voice = service.of(ATTENDANCE), _Following(service)
    service.of(GAME_SERVERS).news.append(voice.server_heard)
    service.of(MEMBERSHIPS).on_change(voice.moved)
    service.of(USER_DIRECTORY).on_rename(voice.renamed)
    service.of(USER_DIRECTORY).on_access_change(attendance.suspect)
    attendance.suspect("")  # what was taken while no process ran
    attendance.on_joined(voice.joined)
    attendance.on_change(partial(tell_channel, service))
    service.of(FLEET).on_gone(voice.node_gone)
    attendance.on_doom(voice.doomed)
    reconcile_when_parted(service, MissedVoice())
    service.of(VOICE_KINDS).in_doubt.append(voice.doubt)
    return (
        BackgroundTask("waiting heartbeats of voice nodes", partial(_let_go, service)),
        BackgroundTask("voice across a restart", partial(end_parted, service)),
    )


class _Following:
    """What voice does at each of these changes."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._attendance = service.of(ATTENDANCE)
        self._kinds = service.of(VOICE_KINDS)

    def server_heard(self, server_id: str, event: ServerNews) -> None:
        """A game server has changed: a voice node goes with its server."""
        if isinstance(event, events.ServerRemoved):
            self._service.of(FLEET).remove_of_server(server_id)

    def moved(self, user_id: str, party_id: str | None) -> None:
        """A user has another party, or none: they leave the channel of the former one."""
        mine = self._attendance.of_user(user_id)
        channel = None if mine is None else self._attendance.state(mine[0])
        if channel is not None and channel.party_id not in (None, party_id):
            self._attendance.doom(user_id, "REMOVED")
        self._service.system.changed(self._kinds.own, user_id, party_id or "")

    def joined(self, state: State, user_id: str) -> None:
        """A user has joined a channel. A block or departure between the turn's check and its commit has found no
        session to end, so they are checked again."""
        other_id = state.other_of(user_id)
        parted = other_id is not None and self._service.of(FRIENDS_LIVE).parted(user_id, other_id)
        if parted or not belongs(state, user_id, self._kinds.is_member):
            self._attendance.doom(user_id, "REMOVED")
        self._attendance.suspect(user_id)

    def node_gone(self, node_id: str) -> None:
        """A voice node is gone: who is in its channels sees that."""
        for state in self._attendance:
            if state.node_id == node_id:
                show(self._service, state)

    def renamed(self, user_id: str, name: str) -> None:
        """A user has another name, which their channel shows."""
        mine = self._attendance.of_user(user_id) if takes_up(self._service) else None
        if mine is not None and not self._service.system.tell(
            self._kinds.channel, mine[0], TellRename(user_id, name)
        ):
            self.doubt(mine[0])

    def doomed(self, channel_id: str, user_id: str, session_id: str, reason: Reason) -> None:
        """A session has to end. A channel that is live ends it at once; the job sees to the others, and to failures."""
        if takes_up(self._service):
            ending = EndSessions(((user_id, session_id),), reason)
            self._service.system.tell(self._kinds.channel, channel_id, ending)

    def doubt(self, channel_id: str) -> None:
        """What memory has of a channel may differ from its rows."""
        self._service.reconciler.add(ChannelInDoubt(channel_id))


async def _let_go(service: Service) -> None:
    await service.lifecycle.wait_draining()
    service.of(WAITING_NODES).close()
