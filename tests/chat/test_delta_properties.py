"""What somebody knows who takes a conversation's events is, after any history, what a fresh snapshot shows."""

import json
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from actors.chat.commands import (
    AnyCommand,
    ChangeConversation,
    ChatViewer,
    TellArchive,
    TellErased,
    TellRename,
)
from actors.chat.deltas import delta
from actors.chat.events import AnyEvent
from actors.chat.frames import audience
from actors.chat.state import ArchiveTail, LookedUp
from actors.chat.window import Line
from actors.errors import Refused
from actors.kernel.facets import Forgotten
from tests.chat.play import NOW_MS, Play, mid, uid
from tests.chat.scenario import NAMES, Step, command_of

LIMIT = 8


class Client:
    """A member who takes events.

    Args:
        archived: whether archived messages are merged in.
    """

    def __init__(self, play: Play, name: str, *, archived: bool) -> None:
        self.viewer = ChatViewer(uid(name), LIMIT, archived)
        self.seen = self.fresh(play)

    def fresh(self, play: Play) -> Any:
        """What somebody is shown who comes now."""
        return json.loads(play.frames.snapshot(play.state, audience(play.state, self.viewer)))

    def take(self, play: Play, happened: list[AnyEvent]) -> None:
        """Take what is told of a turn, or the snapshot in its place."""
        own = audience(play.state, self.viewer)
        try:
            told = [delta(play.frames, play.state, event, own) for event in happened]
        except Forgotten:
            self.seen = self.fresh(play)
            return
        for one in told:
            if one is not None and one.to in (None, self.viewer.user_id):
                chosen = () if one.self_ is None else one.self_.selected  # type: ignore[attr-defined]
                self._take(one.event, one.data, chosen)

    def _take(self, event: str, data: Any, chosen: tuple[str, ...]) -> None:
        if event in {"typing", "read"}:
            return
        data = json.loads(bytes(data))
        if event == "conversation_updated":
            self.seen["conversation"] = data
            return
        for option in (data["poll"] or {}).get("options", ()):
            option["selected"] = option["id"] in chosen
        items = self.seen["items"]
        if event == "message_created":
            items.append(data)
            self.seen["hasMore"] = self.seen["hasMore"] or len(items) > LIMIT
            del items[:-LIMIT]
        else:
            self.seen["items"] = [data if one["id"] == data["id"] else one for one in items]

    def knows(self) -> Any:
        """What of it must be as in a fresh snapshot: what concerns the newest message is said by that message."""
        return _known(self.seen)


def _known(page: Any) -> Any:
    head = page["conversation"]
    named = {name: head[name] for name in ("title", "ownerId", "participants", "participantCount")}
    return named, page["items"], page["hasMore"]


def old_lines(play: Play, number: int) -> tuple[Line, ...]:
    """Messages from the archive, older than all others."""
    record = {"id": "", "senderId": uid("eve"), "senderName": "eve", "content": "old", "poll": None}
    return tuple(
        Line(id, 0, NOW_MS - 1000 + at, uid("eve"), None, json.dumps({**record, "id": id}).encode())
        for at in range(number)
        if (id := mid(900_000 + at))
    )


def a_command(play: Play, random: Random, number: int) -> AnyCommand:
    """What happens next; what it needs of rows is there."""
    play.state = replace(play.state, looked_up=LookedUp(names={uid(name): name for name in NAMES}))
    match random.randrange(12):
        case 0:
            return TellRename(uid(random.choice(NAMES)), f"name {number}")
        case 1:
            return TellErased(uid(random.choice(NAMES[1:])))
        case 2:
            tail = ArchiveTail(old_lines(play, random.randrange(4)), False)
            play.state = replace(play.state, looked_up=LookedUp(archive=tail))
            return TellArchive()
        case 3 if play.state.owner_id is not None:
            return ChangeConversation(play.state.owner_id, title=f"title {number}")
    drawn = (
        random.randrange(16),
        random.randrange(5),
        random.randrange(5),
        random.randrange(12),
        random.randrange(8),
    )
    return command_of(Step(*drawn), number, play.state, [line.id for line in play.state.window])


@pytest.mark.parametrize("seed", range(40))
def test_events_lead_to_a_fresh_snapshot(seed: int) -> None:
    random, play = Random(seed), Play("ann", "bob", "cid")
    clients: dict[tuple[str, bool], Client] = {}
    for number in range(1, 80):
        for name in NAMES:
            for archived in (True, False):
                if uid(name) not in play.state.members:
                    clients.pop((name, archived), None)
                elif (name, archived) not in clients:
                    clients[name, archived] = Client(play, name, archived=archived)
        try:
            happened = [*play.later(7).do(a_command(play, random, number))]
        except Refused:
            continue
        for client in clients.values():
            if client.viewer.user_id in play.state.members:
                client.take(play, happened)
                assert client.knows() == _known(client.fresh(play)), happened
