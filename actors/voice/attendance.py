"""Who is in which voice channel, as the channels' owners have committed them, and who has said so lately.

When a user joins a channel, their session elsewhere ends by it; the joining turn has replaced its row, and the other
channel is told.
"""

from collections.abc import Callable, Collection, Iterator

from msgspec.structs import replace

from actors.voice import events
from actors.voice.channels import Channels
from actors.voice.ended import EndedSessions
from actors.voice.events import AnyEvent
from actors.voice.fleet import Fleet, void_before_s
from actors.voice.outbox import ActionKind
from actors.voice.seats import Seats
from actors.voice.state import SILENCE_MS, Reason, State


class Attendance:
    """All voice channels, and who is in which (see the module).

    Args:
        fleet: the voice nodes, which are told which sessions end.
        now_ms: returns epoch milliseconds; sessions that exist at the start count as heard then.
    """

    def __init__(self, fleet: Fleet, now_ms: Callable[[], int]) -> None:
        self._fleet = fleet
        self._now_ms = now_ms
        self.seats = Seats()
        self.speaking: set[str] = set()  # session ids
        self.doomed: dict[str, dict[tuple[str, str], Reason]] = {}
        """The sessions that are to end, {channel id: {(user id, session id): why}}."""
        self.suspects: set[str] = set()
        """The ids of users in voice whose rights may have changed, so that they are to be checked."""
        self.passed: set[str] = set()
        """The ids of channels that are to move to another node and were tried, be it in vain, in the present walk."""
        self._channels = Channels()
        self._of_user: dict[str, tuple[str, str]] = {}  # {user id: (channel id, session id)}
        self._users: dict[str, str] = {}  # {session id: user id}
        self._heard_ms: dict[str, int] = {}  # {session id: …}, the one heard longest ago first
        self._moved_ms: dict[str, int] = {}  # {channel id: when another node took it over}
        self._ended = EndedSessions(now_ms)
        self._listeners: list[Callable[[str, str, str, Reason], None]] = []
        self._welcomers: list[Callable[[State, str], None]] = []
        self._watchers: list[Callable[[State], None]] = []

    def on_doom(self, listener: Callable[[str, str, str, Reason], None]) -> None:
        """Call `listener(channel id, user id, session id, reason)`, synchronously, when a session is to end."""
        self._listeners.append(listener)

    def on_joined(self, listener: Callable[[State, str], None]) -> None:
        """Call `listener(channel, user id)`, synchronously, after the commit, when a user has joined a channel."""
        self._welcomers.append(listener)

    def on_change(self, watcher: Callable[[State], None]) -> None:
        """Call `watcher(channel)`, synchronously, after the commit, when something has happened to a channel."""
        self._watchers.append(watcher)

    def begin(self) -> None:
        """Take charge of voice, which another node of the service had before: all sessions count as heard now, and the
        rights of all users are to be checked."""
        self._heard_ms = dict.fromkeys(self._heard_ms, self._now_ms())
        self.suspect("")

    # -- looking ------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[State]:
        return iter(self._channels)

    def state(self, channel_id: str) -> State | None:
        """The channel with this id; None when there is none."""
        return self._channels.get(channel_id)

    def of_pair(self, one_id: str, other_id: str) -> State | None:
        """The private channel of two users; None when there is none."""
        return self._channels.of_pair(one_id, other_id)

    def of_user(self, user_id: str) -> tuple[str, str] | None:
        """The ids of a user's channel and session; None when they are in none."""
        return self._of_user.get(user_id)

    def moved_ms(self, channel_id: str) -> int | None:
        """When the channel was moved to another node last; None where that has not happened since the start."""
        return self._moved_ms.get(channel_id)

    def user_of(self, session_id: str) -> str | None:
        """The id of the user whose session it is, or was until lately; None where that is not known."""
        return self._ended.user_of(session_id) or self._users.get(session_id)

    def holds(self, channel_id: str, user_id: str, session_id: str) -> bool:
        """Whether the channel shows this session."""
        state = self._channels.get(channel_id)
        session = None if state is None else state.sessions.get(user_id)
        return session is not None and session.session_id == session_id

    def why_ended(self, session_id: str) -> Reason:
        """Why a session has ended."""
        return self._ended.why(session_id)

    def shown_to(self, user_id: str, party_id: str | None) -> State | None:
        """The channel that concerns a user: the one they are in, else a private one where the other waits, else that of
        their party when somebody is in it.

        Args:
            party_id: the party that they are in; None for none.
        """
        channel_id, _ = self._of_user.get(user_id, ("", ""))
        shown = self._channels.get(channel_id) or self._channels.waiting_for(user_id)
        if shown is not None:
            return shown
        state = None if party_id is None else self._channels.of_party(party_id)
        return state if state is not None and state.sessions else None

    # -- what is committed --------------------------------------------------------------------------

    def follow(self, state: State, event: AnyEvent) -> None:
        """Take in a committed event of a channel, and the channel after its turn."""
        before = self._channels.get(state.id)
        match event:
            case events.SessionsEnded():
                for user_id, session_id in event.sessions.items():
                    self._ended.note(user_id, session_id, event.reason)
                for user_id in {**event.sessions, **dict.fromkeys(event.barred)}:
                    if user_id not in state.sessions:
                        since_s = void_before_s(event.at_ms)
                        self._fleet.order(state.node_id, "remove", state.id, user_id, not_before_s=since_s)
            case events.Joined(session=session):
                # An older token of theirs may let them publish.
                self._tell_muted(state, {session.user_id} & set(state.control.muted_ids))
            case events.Moved(at_ms=at_ms):
                self._moved_ms[state.id] = at_ms
                self._tell_muted(state, set(state.control.muted_ids))
            case events.ChannelEnded():
                self._fleet.order(state.node_id, "close", state.id, None)
        if before is not None:
            self._tell_muted(state, set(before.control.muted_ids) ^ set(state.control.muted_ids))
        self.take(state)
        if isinstance(event, events.Joined):
            for listener in self._welcomers:
                listener(state, event.session.user_id)
        for watcher in self._watchers:
            watcher(state)

    def take_of_other(self, state: State, speaking: Collection[str]) -> None:
        """Take in a channel as it was told by the node that is in charge of voice.

        Args:
            speaking: the ids of the sessions in it that speak.
        """
        self.take(state)
        self.speaking -= {one.session_id for one in state.sessions.values()}
        self.speaking.update(speaking)

    def take(self, state: State) -> None:
        """Take in a channel as it is now."""
        before = self._channels.get(state.id)
        gone = {} if before is None else before.sessions
        for user_id, session in gone.items():
            now = state.sessions.get(user_id)
            if now is None or now.session_id != session.session_id:
                self._drop(state.id, user_id, session.session_id)
                if now is not None:
                    self._ended.note(user_id, session.session_id, "REPLACED")
        if state.ended:
            self._forget(state)
            return
        self._channels.put(state)
        for user_id, session in state.sessions.items():
            if user_id not in gone or gone[user_id].session_id != session.session_id:
                self._place(state, user_id, session.session_id)
            elif before is not None and before.node_id != state.node_id:
                self._sit(state, user_id)

    def reconcile(self, channel_id: str, state: State | None) -> None:
        """Take in a channel as it was read from rows again; None when there is no such channel any more."""
        before = self._channels.get(channel_id)
        if state is not None:
            self.take(state)
        elif before is not None:
            for user_id, session in before.sessions.items():
                self._drop(channel_id, user_id, session.session_id)
            self._forget(before)
        self.seats.settle(channel_id)

    def take_out(self, user_id: str) -> State | None:
        """Take a user out of their channel, since the row of their session is gone without its doing; returns the
        channel as it was, None where they are in none."""
        channel_id, session_id = self._of_user.get(user_id, ("", ""))
        before = self._channels.get(channel_id)
        if before is None:
            return None
        self.doomed.get(channel_id, {}).pop((user_id, session_id), None)
        self._ended.note(user_id, session_id, "REMOVED")
        self._fleet.order(before.node_id, "remove", channel_id, user_id)
        left = {id: session for id, session in before.sessions.items() if id != user_id}
        self.take(replace(before, sessions=left))
        return before

    # -- what time does -----------------------------------------------------------------------------

    def hear(self, session_id: str, *, speaking: bool | None) -> bool:
        """Note that a session has synced; returns whether it has begun or ceased to speak by this.

        Args:
            speaking: whether it speaks; None leaves that as it is.
        """
        if session_id not in self._users:
            return False
        self._heard_ms.pop(session_id, None)
        self._heard_ms[session_id] = self._now_ms()
        if speaking is None or speaking == (session_id in self.speaking):
            return False
        if speaking:
            self.speaking.add(session_id)
        else:
            self.speaking.discard(session_id)
        return True

    def doom(self, user_id: str, reason: Reason, session_id: str | None = None) -> None:
        """Have the session of a user ended, if they have one.

        Args:
            reason: why it ends.
            session_id: ends only this session; None for whichever they have.
        """
        mine = self._of_user.get(user_id)
        if mine is not None and session_id in (None, mine[1]):
            self._doom(mine[0], user_id, mine[1], reason)

    def suspect(self, user_id: str) -> None:
        """Note that the rights of a user may have changed; "" for those of all users."""
        if not user_id:
            self.suspects.update(self._of_user)
        elif user_id in self._of_user:
            self.suspects.add(user_id)

    def look(self) -> None:
        """Have the sessions ended that were not heard for too long."""
        now_ms = self._now_ms()
        for session_id, heard_ms in tuple(self._heard_ms.items()):
            if heard_ms + SILENCE_MS > now_ms:
                break
            self.doom(self._users[session_id], "EXPIRED", session_id)
        self._ended.forget_old()

    def overdue(self) -> list[str]:
        """The ids of channels that have been empty for long enough to end."""
        return self._channels.overdue(self._now_ms())

    # -- within -------------------------------------------------------------------------------------

    def _place(self, state: State, user_id: str, session_id: str) -> None:
        elsewhere = self._of_user.get(user_id)
        self._of_user[user_id] = state.id, session_id
        self._users[session_id] = user_id
        self._heard_ms[session_id] = self._now_ms()
        self._sit(state, user_id)
        if elsewhere is not None and elsewhere[1] != session_id:
            self._ended.note(user_id, elsewhere[1], "REPLACED")
            if elsewhere[0] != state.id:
                self._doom(elsewhere[0], user_id, elsewhere[1], "REPLACED")

    def _sit(self, state: State, user_id: str) -> None:
        if self._of_user.get(user_id, ("", ""))[0] == state.id:
            self.seats.sit(user_id, state.node_id)

    def _drop(self, channel_id: str, user_id: str, session_id: str) -> None:
        self._users.pop(session_id, None)
        self._heard_ms.pop(session_id, None)
        self.speaking.discard(session_id)
        if self._of_user.get(user_id) == (channel_id, session_id):
            del self._of_user[user_id]
            self.seats.sit(user_id, None)

    def _forget(self, state: State) -> None:
        self._channels.remove(state)
        self._moved_ms.pop(state.id, None)
        self.doomed.pop(state.id, None)

    def _doom(self, channel_id: str, user_id: str, session_id: str, reason: Reason) -> None:
        self.doomed.setdefault(channel_id, {}).setdefault((user_id, session_id), reason)
        for listener in self._listeners:
            listener(channel_id, user_id, session_id, reason)

    def _tell_muted(self, state: State, user_ids: Collection[str]) -> None:
        for user_id in sorted(user_ids):
            if user_id in state.sessions:
                kind: ActionKind = "mute" if user_id in state.control.muted_ids else "unmute"
                self._fleet.order(state.node_id, kind, state.id, user_id)
