"""Wire: what a subscriber knows is what is true; nothing is missed, doubled or out of order."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio

from routes.chat.parts import CHAT_KINDS
from tests.live.play import subscribe
from tests.support.waiting import patience, wait_until
from tests.support.websocket import Client
from tests.support.world import Player, Room, World, open_world

pytestmark = pytest.mark.both_edges

NONE = "/v1/social/live?channels="


async def pair(world: World) -> tuple[Player, Player, Room]:
    ann, ben = await world.players("Ann", "Ben")
    return ann, ben, await ann.talk_to(ben, kind="group")


class Copy:
    """A client's own copy of a conversation, kept by snapshots and events."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.items: list[Any] = []
        self.conversation: Any = None
        self.place = {"epoch": "", "offset": -1}
        self.skipped = 0

    def take(self, frame: Any) -> None:
        """Take in what came."""
        if frame["type"] == "snapshot":
            self.items = frame["data"]["items"]
            self.conversation = frame["data"]["conversation"]
            self.skipped += frame["skipped"]
        elif frame["offset"] is None:
            return
        else:
            # Each event follows the one before.
            assert frame["offset"] == self.place["offset"] + 1, self.place
            self._take_event(frame["event"], frame["data"], frame.get("self"))
        self.place = {"epoch": frame["epoch"], "offset": frame["offset"]}

    def _take_event(self, name: str, data: Any, own: Any) -> None:
        if name == "conversation_updated":
            self.conversation = data
            return
        known = [place for place, item in enumerate(self.items) if item["id"] == data["id"]]
        if data["poll"] is not None:
            # Nothing is selected in an event: the viewer's own choice stands beside it, where there is one.
            selected = own["selected"] if own else ()
            for option in data["poll"]["options"]:
                option["selected"] = option["id"] in selected
        if known:
            self.items[known[0]] = data
        elif name == "message_created":
            self.items.append(data)

    async def catch_up(self, socket: Client, offset: int) -> None:
        """Take in frames until the channel is there."""
        while self.place["offset"] < offset:
            frame = await socket.receive_json()
            if frame["type"] in {"snapshot", "event"}:
                self.take(frame)


class Chatter:
    """Does something at random, with a seed."""

    def __init__(self, seed: int, players: list[Player], room: Room) -> None:
        self._random = Random(seed)
        self._players = players
        self._room = room
        self._mine: dict[str, list[str]] = {player.id: [] for player in players}
        self._polls: list[str] = []
        self.offset = 0

    async def do_something(self) -> None:
        """One step; counts the events that it made."""
        player = self._random.choice(self._players)
        mine = self._mine[player.id]
        step = self._random.choice(["say", "say", "ask", "vote", "edit", "delete", "title"])
        room = self._room
        if step == "ask":
            poll = {"question": "?", "options": [{"label": "a"}, {"label": "b"}], "multiple": True}
            self._polls.append((await player.do("POST", room.messages, {"content": "?", "poll": poll}))["id"])
            mine.append(self._polls[-1])
        elif step == "vote" and self._polls:
            choice = self._random.sample(["1", "2"], self._random.randrange(3))
            path = f"{room.message(self._random.choice(self._polls))}/poll/vote"
            await player.do("POST", path, {"optionIds": choice})
        elif step == "edit" and mine:
            message_id = self._random.choice(mine)
            await player.do("PATCH", room.message(message_id), {"content": str(self._random.random())})
        elif step == "delete" and mine:
            gone = mine.pop()
            self._polls = [id for id in self._polls if id != gone]
            await player.do("DELETE", room.message(gone))
        elif step == "title":
            await self._players[0].do("PATCH", room.path, {"title": str(self._random.randrange(10**6))})
        else:
            mine.append((await player.say(room, str(self._random.random())))["id"])


async def offset_of(player: Player, room: Room) -> int:
    """The channel's newest offset."""
    events = (await player.get(f"{room.path}/events", limit=500))["items"]
    return max((event["offset"] for event in events), default=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
async def test_snapshot_and_events_are_a_fresh_snapshot(database_url: str, tmp_path: Path, seed: int) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann, ben, room = await pair(world)
        chatter = Chatter(seed, [ann, ben], room)
        for _ in range(5):
            await chatter.do_something()
        async with ann.live(NONE) as anns, ben.live(NONE) as bens:
            copies = [(Copy(ann), anns), (Copy(ben), bens)]
            for _, socket in copies:
                await subscribe(socket, room, mode="delta", limit=120)
            for _ in range(40):
                await chatter.do_something()
            offset = await offset_of(ann, room)
            for copy, socket in copies:
                await copy.catch_up(socket, offset)
                fresh = await copy.player.get(room.messages, limit=120)
                assert copy.items == fresh["items"]
                assert copy.conversation["title"] == fresh["conversation"]["title"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_who_comes_back_is_told_what_was_missed(database_url: str, tmp_path: Path, seed: int) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann, ben, room = await pair(world)
        chatter = Chatter(seed, [ann, ben], room)
        copy = Copy(ben)
        random = Random(seed)
        for visit in range(6):
            async with ben.live(NONE) as socket:
                since = copy.place if visit else None
                reply = await subscribe(socket, room, since=since, mode="delta", limit=120)
                assert reply["recovered"] is (visit > 0)
                for _ in range(random.randrange(6)):
                    await chatter.do_something()
                await copy.catch_up(socket, await offset_of(ann, room))
            assert copy.items == (await ben.get(room.messages, limit=120))["items"]
            for _ in range(random.randrange(8)):
                await chatter.do_something()
            if visit == 3:
                await fall_asleep(world, room)
        assert copy.skipped == 0


async def fall_asleep(world: World, room: Room) -> None:
    """Let the conversation's actor retire: what was missed then comes from the journal."""
    service = world.service
    world.clock.advance(120_000)
    with patience():
        while service.system.peek(service.of(CHAT_KINDS).conversation, room.id) is not None:  # noqa: ASYNC110
            await trio.sleep(0.01)


async def test_recovery_by_what_the_client_has(world: World) -> None:
    ann, ben, room = await pair(world)
    await ann.say(room, "one")
    await ann.say(room, "two")
    async with ben.live(NONE) as socket:
        reply = await subscribe(socket, room, mode="delta")
        epoch, offset = reply["epoch"], reply["offset"]
        assert offset == 2
        assert (await socket.receive_json())["type"] == "snapshot"
        # Nothing missed: no frame at all.
        same = await subscribe(socket, room, since={"epoch": epoch, "offset": 2}, mode="delta")
        assert (same["recovered"], same["offset"]) == (True, 2)
        # One missed.
        reply = await subscribe(socket, room, since={"epoch": epoch, "offset": 1}, mode="delta")
        event = await socket.receive_json()
        assert (reply["recovered"], event["type"], event["offset"]) == (True, "event", 2)
        # Another history, or a place that was never reached: a snapshot.
        for place in ({"epoch": "other", "offset": 1}, {"epoch": epoch, "offset": 99}):
            reply = await subscribe(socket, room, since=place, mode="delta")
            snapshot = await socket.receive_json()
            assert (reply["recovered"], snapshot["type"], snapshot["offset"]) == (False, "snapshot", 2)
        # In snapshot mode the newest state stands for whatever was missed; nothing missed needs none.
        reply = await subscribe(socket, room, since={"epoch": epoch, "offset": 2})
        assert reply["recovered"] is True
        reply = await subscribe(socket, room, since={"epoch": epoch, "offset": 1})
        assert (reply["recovered"], (await socket.receive_json())["type"]) == (False, "snapshot")


@pytest.mark.one_node(because="a node that has just begun to show a conversation knows of no names before")
@pytest.mark.parametrize("mode", ["delta", "snapshot"])
async def test_a_name_that_was_missed_is_in_a_snapshot(world: World, mode: str) -> None:
    """New names have no offset, so nothing is replayed that would say them."""
    ann, ben, room = await pair(world)
    await ben.say(room, "one")
    async with ann.live(NONE) as socket:
        reply = await subscribe(socket, room, mode=mode)
        place = {"epoch": reply["epoch"], "offset": reply["offset"]}
    renamed = Player(world, ben.id, "Benno", world.token(ben.id, "Benno"))
    await renamed.get("/v1/auth/verify")

    async def is_told() -> bool:
        state = world.service.system.peek(world.service.of(CHAT_KINDS).conversation, room.id)
        return state is not None and state.members[ben.id].name == "Benno"

    await wait_until(is_told)
    async with ann.live(NONE) as socket:
        assert (await subscribe(socket, room, since=place, mode=mode))["recovered"] is False
        snapshot = await socket.receive_json()
        participants = snapshot["data"]["conversation"]["participants"]
        assert sorted(one["name"] for one in participants) == ["Ann", "Benno"]
        await renamed.say(room, "two")
        assert (await socket.receive_json())["offset"] == place["offset"] + 1
        place["offset"] += 1
        assert (await subscribe(socket, room, since=place, mode=mode))["recovered"] is True


async def test_the_reply_to_a_send_precedes_its_event(world: World) -> None:
    ann, ben, room = await pair(world)
    async with ann.live(NONE) as anns, ben.live(NONE) as bens:
        for socket in (anns, bens):
            await subscribe(socket, room, mode="delta")
            assert (await socket.receive_json())["type"] == "snapshot"
        for number in range(25):
            data = {"content": str(number)}
            await anns.send_json({"id": number, "op": "send", "channel": room.channel, "data": data})
        replied: dict[str, int] = {}
        events: list[str] = []
        while len(events) < 25:
            frame = await anns.receive_json()
            if frame["type"] == "reply":
                replied[frame["data"]["id"]] = frame["id"]
            else:
                assert frame["data"]["id"] in replied
                events.append(frame["data"]["id"])
        # Many sends may be under way at once: their order is that in which they were said.
        assert [replied[id] for id in events] == list(range(25))
        assert [(await bens.receive_json())["data"]["id"] for _ in range(25)] == events


@pytest.mark.slow
async def test_a_thousand_sends_at_once_wait_their_turn(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann, _, room = await pair(world)
        replies: list[int] = []
        async with ann.live(NONE) as socket:
            await socket.receive_json()

            async def send() -> None:
                for number in range(1000):
                    data = {"content": str(number)}
                    await socket.send_json(
                        {"id": number, "op": "send", "channel": room.channel, "data": data}
                    )

            async with trio.open_nursery() as nursery:
                nursery.start_soon(send)
                while len(replies) < 1000:
                    reply = await socket.receive_json()
                    assert reply["ok"], reply
                    replies.append(reply["id"])
        assert replies == list(range(1000))


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "count"), [("snapshot", 250), ("delta", 2500)])
async def test_a_slow_reader_skips_to_the_newest(
    database_url: str, tmp_path: Path, mode: str, count: int
) -> None:
    """More is sent than TCP's buffers hold; what a reader then has not had is one snapshot."""
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann, ben, room = await pair(world)
        async with ben.live(NONE) as slow, ann.live(NONE) as sender:
            await subscribe(slow, room, mode=mode, limit=120)
            data = {"content": "x" * 4_000}
            for number in range(count):
                await sender.send_json({"id": number, "op": "send", "channel": room.channel, "data": data})
                if number >= 64:
                    assert (await sender.receive_until(type="reply"))["ok"]
                # While it reads nothing, no more waits for it than the bound and the one that is being taken.
                assert most_queued(world, ben) <= 1024 * 1024
            for _ in range(64):
                assert (await sender.receive_until(type="reply"))["ok"]
            copy = Copy(ben)
            await copy.catch_up(slow, await offset_after(ben, room))
            assert copy.items[-120:] == (await ben.get(room.messages, limit=120))["items"]
            assert copy.skipped > 0
            # It keeps up again.
            last = await ann.say(room, "last")
            await copy.catch_up(slow, count + 1)
            assert copy.items[-1] == last


async def offset_after(player: Player, room: Room) -> int:
    """The channel's newest offset, however many there are."""
    since, found = 0, 0
    while True:
        page = await player.get(f"{room.path}/events", since=since, limit=500)
        for event in page["items"]:
            since = found = event["offset"]
        if not page["hasMore"]:
            return found


def most_queued(world: World, player: Player) -> int:
    """Bytes that wait in the service for the socket for which most wait."""
    return max(socket.queued_bytes for socket in world.service.sockets.of_user(player.id))


@pytest.mark.parametrize(("messages", "recovered"), [(20, True), (70, False)])
async def test_no_more_than_a_megabyte_is_replayed(
    database_url: str, tmp_path: Path, messages: int, recovered: bool
) -> None:
    """However few events it is: a snapshot is smaller then, and made once for all who come back."""
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann, _, room = await pair(world)
        async with ann.live(NONE) as socket:
            reply = await subscribe(socket, room, mode="delta", limit=1)
        place = {"epoch": reply["epoch"], "offset": reply["offset"]}
        for _ in range(messages):
            await ann.do("POST", room.messages, {"content": "\U0001f600" * 4_000}, status=201)
        async with ann.live(NONE) as socket:
            reply = await subscribe(socket, room, since=place, mode="delta", limit=1)
            assert reply["recovered"] is recovered
            first = await socket.receive_json()
            assert first["type"] == ("event" if recovered else "snapshot")
