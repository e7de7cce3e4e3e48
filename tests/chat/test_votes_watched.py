"""A vote changes what one member sees of themselves: nobody else's audience is computed for it."""

from collections.abc import Hashable
from dataclasses import replace

from actors.chat.commands import ChatViewer, MessageDraft, PostMessage, VotePoll
from actors.chat.kind import chat_kinds
from actors.chat.records import decode
from actors.chat.state import State
from actors.kernel.counters import Counters
from actors.kernel.fanout import Channel
from actors.kernel.kind import moved_by
from actors.kernel.subscription import Subscription, WatchRequest
from tests.chat.play import NOW_MS, a_conversation, a_poll, mid, uid
from tests.support.sinks import JsonEnvelope, Socket

NAMES = tuple(f"m{number}" for number in range(40))


class Alone:
    """What a channel needs of a system, where none is walked by a task."""

    def __init__(self) -> None:
        self.counters = Counters()

    def start(self, *_task: object) -> None:
        """Starts nothing."""

    def unwatched(self) -> None:
        """Nobody is told that the last one has left."""


def test_a_vote_moves_the_voter_alone() -> None:
    kind = chat_kinds(lambda _ids: (), lambda: NOW_MS).conversation
    placed: list[str] = []

    def counted(state: State, viewer: ChatViewer) -> Hashable:
        placed.append(viewer.user_id)
        return kind.rendering.audience(state, viewer)

    shown = replace(kind, rendering=replace(kind.rendering, audience=counted))
    state = a_conversation(*NAMES)
    draft = MessageDraft(content="?", poll=a_poll("a", "b"))
    for event in kind.decide(state, PostMessage(uid("m0"), mid(1), draft), NOW_MS):
        state = kind.apply(state, event)
    channel = Channel(shown, state.id, Alone(), Alone())
    channel.attach("e", 1, state)
    sockets = {name: Socket() for name in NAMES}
    held: list[Subscription] = []
    for name, socket in sockets.items():
        viewer = ChatViewer(uid(name), 50)
        request = WatchRequest(socket, viewer, "conversation:x", JsonEnvelope(), "snapshot", socket.on_opened)
        held.append(channel.subscribe(request, None))
    placed.clear()
    poll = decode(state.window[-1].record).poll
    assert poll is not None
    events = kind.decide(state, VotePoll(uid("m7"), mid(1), (poll.options[0].id,)), NOW_MS)
    for event in events:
        state = kind.apply(state, event)
    channel.publish(state, [(2, event) for event in events], moves=moved_by(events), reframing=len(events))
    assert placed == [uid("m7")]
    for name in ("m6", "m7"):
        (option, _) = sockets[name].frames[-1]["data"]["items"][0]["poll"]["options"]
        assert (option["votes"], option["selected"]) == (1, name == "m7")
