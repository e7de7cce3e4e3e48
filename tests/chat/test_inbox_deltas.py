"""The inbox as delta subscribers see it: what they know after any events is what a fresh snapshot shows."""

from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from actors.chat.inbox import FACE, SHOWN
from actors.chat.inbox_state import Entry, InboxState, Reread
from actors.chat.kind import chat_kinds
from actors.chat.state import State, standing
from actors.kernel.facets import Forgotten
from tests.chat.play import NOW_MS, a_conversation, mid, uid

KINDS = chat_kinds(lambda _ids: (), lambda: NOW_MS)
INBOX = KINDS.inbox
ANN = uid("ann")


def fresh(inbox: InboxState) -> Any:
    return msgspec.json.decode(bytes(INBOX.rendering.render(inbox, None)))  # type: ignore[call-overload]


class Client:
    """What somebody knows who takes events.

    Args:
        inbox: as it was when they came.
    """

    def __init__(self, inbox: InboxState) -> None:
        self.offset = 0
        self.snapshots = 0
        self._take_snapshot(inbox)

    def _take_snapshot(self, inbox: InboxState) -> None:
        snapshot = fresh(inbox)
        self.totals, self.has_more = snapshot["totals"], snapshot["hasMore"]
        self.known = {one["id"]: one for one in snapshot["conversations"]}

    def follow(self, before: InboxState, after: InboxState, sources: set[str]) -> int:
        """Take what is told of a step; returns how many events it were."""
        assert INBOX.events is not None
        told = INBOX.events(before, after, sources)
        for event in told:
            try:
                delta = INBOX.rendering.render_event(after, event, None)
            except Forgotten:
                self.snapshots += 1
                self._take_snapshot(after)
                break
            assert delta is not None, "an offset that nobody is told of"
            self._take(msgspec.json.decode(msgspec.json.encode(delta.data)))
        return len(told)

    def _take(self, data: Any) -> None:
        was = self.known.pop(data["id"], None)
        if not data.get("removed"):
            self.known[data["id"]] = data
        for total, count in (("unread", "unreadCount"), ("mentions", "mentionCount")):
            self.totals[total] += data.get(count, 0) - (0 if was is None else was[count])

    def shows(self) -> Any:
        newest_first = sorted(
            self.known.values(), key=lambda one: (one["updatedAt"], one["id"]), reverse=True
        )
        return {
            "type": "inbox_snapshot",
            "conversations": newest_first,
            "totals": self.totals,
            "hasMore": self.has_more,
        }


class Inbox:
    """Conversations, of which some are live, and Ann's inbox over them.

    Args:
        conversations: how many.
    """

    def __init__(self, conversations: int, random: Random) -> None:
        self.random = random
        self.now_ms = NOW_MS
        self.states = {mid(number): self._made(number) for number in range(conversations)}
        self.inbox = INBOX.absorb(InboxState(ANN, (), {}), Reread(self._rows(self.states.keys())))

    def _made(self, number: int) -> State:
        self.now_ms += 1
        return a_conversation("ann", "bob", id=mid(number), message_seq=3, updated_at_ms=self.now_ms)

    def _rows(self, ids: Any) -> dict[str, Entry | None]:
        return {id: self._row(self.states[id]) for id in ids}

    def _row(self, state: State) -> Entry | None:
        member = state.members.get(ANN)
        return None if member is None else Entry(KINDS.frames.facts(state), standing(state, member))

    def step(self) -> set[str]:
        """Something happens; returns what is marked by it."""
        state = self.random.choice(list(self.states.values()))
        what = self.random.choice(["say", "say", "read", "title", "leave", "join", "nothing", "face"])
        match what:
            case "say":
                self.now_ms += 5
                state = replace(state, message_seq=state.message_seq + 1, updated_at_ms=self.now_ms)
            case "read" if ANN in state.members:
                member = replace(state.members[ANN], read_seq=state.message_seq)
                state = replace(state, members={**state.members, ANN: member})
            case "title":
                state = replace(state, title=str(self.random.random()))
            case "leave":
                state = replace(state, members={uid("bob"): state.members[uid("bob")]})
            case "join":
                state = replace(state, members={**a_conversation("ann", "bob").members})
            case "face":
                return {FACE + uid("bob")}
        self.states[state.id] = state
        return {state.id}

    def take(self, sources: set[str]) -> tuple[InboxState, InboxState]:
        """The inbox before what has happened and after it; every second conversation is live."""
        before = self.inbox
        live = {id for place, id in enumerate(self.states) if place % 2}
        after, unread = INBOX.take(before, sources, lambda _kind, id: self.states[id] if id in live else None)
        if unread:
            after = INBOX.absorb(after, Reread(self._rows(unread)))
        self.inbox = after
        return before, after


@pytest.mark.parametrize("conversations", [5, SHOWN + 5])
@pytest.mark.parametrize("seed", range(3))
def test_snapshot_and_events_are_a_fresh_snapshot(conversations: int, seed: int) -> None:
    inbox = Inbox(conversations, Random(seed))
    client = Client(inbox.inbox)
    for _ in range(150):
        sources = inbox.step() | (inbox.step() if inbox.random.random() < 0.2 else set())
        before, after = inbox.take(sources)
        client.follow(before, after, sources)
        assert client.shows() == fresh(after)
    assert (client.snapshots > 0) is (conversations > SHOWN)


def test_what_shows_as_before_is_not_told():
    inbox = Inbox(3, Random(0))
    before, after = inbox.take({mid(1), mid(2)})
    assert Client(before).follow(before, after, {mid(1), mid(2)}) == 0


def test_a_newer_title_of_what_is_only_counted_is_not_told():
    inbox = Inbox(SHOWN + 1, Random(0))
    inbox.states[mid(0)] = replace(inbox.states[mid(0)], title="Raid")
    before, after = inbox.take({mid(0)})
    assert Client(before).follow(before, after, {mid(0)}) == 0
