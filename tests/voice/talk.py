"""Two voice channels without a service: their rules, the memory that follows them, and what users see of it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.errors import Refused
from actors.ids import new_object_id
from actors.party.memberships import Memberships
from actors.voice import commands
from actors.voice.attendance import Attendance
from actors.voice.commands import AnyCommand
from actors.voice.events import AnyEvent
from actors.voice.fleet import Fleet
from actors.voice.kind import VoiceKinds, voice_kinds
from actors.voice.loading import new_channel
from actors.voice.own_view import OwnVoice, happened
from actors.voice.public import Place
from actors.voice.state import LookedUp, Reason, State
from persistence.users.audit import Stamp
from persistence.voice.channels import ChannelRow
from persistence.voice.nodes import NodeRow
from tests.chat.play import uid

NAMES = ("ann", "bob", "cid", "dan")
NOW_MS = 1_795_000_000_000
PARTY_ID, PARTY, PAIR = (f"00000000-0000-4000-8000-00000000000{number}" for number in (3, 4, 5))
NODES = ("a" * 24, "b" * 24)
LOW, HIGH = sorted((uid("ann"), uid("bob")))
ROWS = (ChannelRow(PARTY, None, None, PARTY_ID, NOW_MS), ChannelRow(PAIR, LOW, HIGH, None, NOW_MS))


class Step(NamedTuple):
    """Something that somebody tries."""

    what: int
    who: str
    whom: str
    channel: str
    later_ms: int
    flag: bool


STEPS = st.builds(
    Step,
    st.integers(0, 14),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.sampled_from((PARTY, PAIR)),
    st.sampled_from((0, 1, 700, 20_000, 5 * 60_000)),
    st.booleans(),
)


def node_row(node_id: str) -> NodeRow:
    """A node."""
    return NodeRow(
        node_id, "s", "eu", f"ws://{node_id}", 99, "partyline", b"", None, None, False, NOW_MS, NOW_MS
    )


class Talk:
    """The two channels.

    Attributes:
        events: (channel, event) of all that has happened, in order.
        clients: {user: the frame that they have}.
    """

    def __init__(self) -> None:
        self.now_ms = NOW_MS
        self.number = 0
        self.events: list[tuple[str, AnyEvent]] = []
        self.fleet = Fleet(map(node_row, NODES), lambda: self.now_ms, lambda: "e")
        self.attendance = Attendance(self.fleet, lambda: self.now_ms)
        self.kinds: VoiceKinds = voice_kinds(
            self.attendance, Memberships((uid(name), PARTY_ID) for name in NAMES), self.place_of
        )
        self.states = {row.id: new_channel(row, NODES[0]) for row in ROWS}
        for state in self.states.values():
            self.attendance.take(state)
        self._doomed: list[tuple[str, commands.EndSessions]] = []
        self.attendance.on_doom(self._doom)
        self._views = {uid(name): self.view(uid(name)) for name in NAMES}
        self.clients = {id: self.frame(view) for id, view in self._views.items()}

    def place_of(self, node_id: str | None) -> Place | None:
        """A node whose tokens are what they say."""
        return None if self.fleet.get(node_id) is None else Place("eu", f"ws://{node_id}", "k", _sign)

    def view(self, user_id: str) -> OwnVoice:
        """What a user sees, anew."""
        return self.kinds.own.take(OwnVoice(user_id), frozenset(), lambda _kind, _id: None)[0]

    def frame(self, view: OwnVoice) -> Any:
        """The frame of a view."""
        return _plain(self.kinds.own.rendering.render(view, None))

    def run(self, step: Step) -> None:
        """Try something, and have everybody look who sees it."""
        self.now_ms += step.later_ms
        self.number += 1
        for channel_id, command in self._commands(step):
            self.do(channel_id, command)
        while self._doomed:
            self.do(*self._doomed.pop())
        self._look()

    def do(self, channel_id: str, command: AnyCommand) -> None:
        """One turn of a channel; a refused command does nothing."""
        kind, state = self.kinds.channel, self.states[channel_id]
        if isinstance(command, commands.Join):
            mine = self.attendance.of_user(command.user_id)
            state = replace(state, looked_up=LookedUp(command.user_id, _name(command.user_id), False, mine))
        try:
            events: Sequence[Any] = kind.decide(state, command, self.now_ms)
        except Refused:
            return
        for event in events:
            state = kind.apply(state, event)
        self.states[channel_id] = replace(state, looked_up=None)
        for event in events:
            self.events.append((channel_id, event))
            self.attendance.follow(self.states[channel_id], event)

    def _commands(self, step: Step) -> Sequence[tuple[str, AnyCommand]]:
        who, id = uid(step.who), step.channel
        mine = self.attendance.of_user(who) or (id, "")
        state = self.states[id]
        match step.what:
            case 0 | 1 | 2 | 3 | 4:
                session_id = new_object_id(self.now_ms, lambda count: self.number.to_bytes(count, "big"))
                return [(id, commands.Join(who, session_id, state.node_id or "", step.flag, not step.flag))]
            case 5 | 6:
                return [(mine[0], commands.Sync(who, mine[1], step.flag, None))]
            case 7:
                self.attendance.hear(mine[1], speaking=step.flag)
                return []
            case 8:
                return [(mine[0], commands.EndSessions(((who, mine[1]),), "EXPIRED"))]
            case 9 | 10:
                stamp = Stamp(f"{self.number:024x}", self.now_ms, uid("ann"), None)
                muted = (uid(step.whom),) if step.flag else ()
                return [(id, commands.SetControl(None, muted, None, (), stamp))]
            case 11:
                stamp = Stamp(f"{self.number:024x}", self.now_ms, uid("ann"), None)
                return [(id, commands.SetControl(None, None, None, (uid(step.whom),), stamp))]
            case 12 | 13:
                other = NODES[state.node_id == NODES[0]]
                ids = tuple(map(uid, NAMES)) if step.flag else tuple(state.sessions)[:1]
                return [(id, commands.MoveTo(state.node_id, other, ids))]
            case _ if step.flag and step.later_ms == 0:
                self.fleet.remove(NODES[1])
                return []
            case _:
                self.attendance.look()
                return []

    def _doom(self, channel_id: str, user_id: str, session_id: str, reason: Reason) -> None:
        self._doomed.append((channel_id, commands.EndSessions(((user_id, session_id),), reason)))

    def _look(self) -> None:
        rendering = self.kinds.own.rendering
        for id, before in self._views.items():
            after = self._views[id] = self.view(id)
            for event in happened(before, after, ()):
                told = rendering.render_event(after, event, None)
                if told is not None:  # there is nothing to join on a node that has gone
                    self.clients[id] = taken(self.clients[id], told.event, _plain(told.data))


def taken(frame: Any, event: str, data: Any) -> Any:
    """A client's frame after an event."""
    if event == "voice_updated":
        return data
    if event == "voice_migrate":
        assert data["channelId"] == frame["channel"]["id"]
        return frame | {"session": data["session"]}
    assert event == "speaking"
    heard = [one | {"speaking": one["userId"] in data["userIds"]} for one in frame["channel"]["participants"]]
    return frame | {"channel": frame["channel"] | {"participants": heard}}


def named(state: State) -> State:
    """With the names that rows have."""
    return replace(state, sessions={id: replace(one, name=_name(id)) for id, one in state.sessions.items()})


def _name(user_id: str) -> str:
    return next(name for name in NAMES if uid(name) == user_id)


def _sign(claims: Mapping[str, object]) -> str:
    return msgspec.json.encode(claims).decode()


def _plain(frame: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(frame))
