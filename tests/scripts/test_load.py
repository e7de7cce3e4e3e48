"""The load test's own parts: what it reports must be true before it says anything about a server."""

import random
import socket

import msgspec
import pytest

from scripts.load.__main__ import parser, plan_of
from scripts.load.clients.client import Client, Track
from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open
from scripts.load.clients.http import Http
from scripts.load.clients.websocket import WebSocket, client_frame
from scripts.load.histogram import Histogram
from scripts.load.plan import BadPlan, Plan, check, conversations_of, friendships, memberships, user_id
from scripts.load.seen_messages import SeenMessages
from scripts.load.workloads.chat import Chat
from tests.scripts.play import server_frame


def a_plan(**fields) -> Plan:
    return Plan(host="127.0.0.1:1", address=("127.0.0.1", 1), **fields)


class TestHistogram:
    def test_quantiles_are_within_three_percent(self):
        rng = random.Random(1)
        values = [int(rng.lognormvariate(15, 2)) for _ in range(20_000)]
        histogram = Histogram()
        for nanoseconds in values:
            histogram.add(nanoseconds)
        values.sort()
        for share in (0.01, 0.5, 0.95, 0.99):
            true_ms = values[round(len(values) * share) - 1] / 1e6
            assert histogram.quantile_ms(share) == pytest.approx(true_ms, rel=0.03, abs=0.001)

    def test_two_add_up_to_one(self):
        first, second, whole = Histogram(), Histogram(), Histogram()
        for nanoseconds in range(0, 10**9, 777_777):
            (first if nanoseconds % 2 else second).add(nanoseconds)
            whole.add(nanoseconds)
        first.add_all(second.take())
        assert (first.counts, second.total) == (whole.counts, 0)

    def test_an_empty_one_has_no_quantile(self):
        assert Histogram().quantile_ms(0.5) is None

    def test_nothing_is_too_long(self):
        histogram = Histogram()
        histogram.add(10**20)
        assert histogram.total == 1


class TestPlan:
    @pytest.mark.parametrize(
        ("users", "conversations", "members"), [(2000, 1000, 2), (40, 200, 2), (30, 50, 7)]
    )
    def test_no_two_conversations_have_the_same_members(self, users, conversations, members):
        found = memberships(a_plan(users=users, conversations=conversations, members=members))
        assert len({frozenset(one) for one in found}) == conversations
        assert all(len(set(one)) == members for one in found)
        assert {user for one in found for user in one} <= set(range(users))

    def test_parent_and_workers_see_the_same(self):
        plan = a_plan(users=30, conversations=50, members=3, seed=5)
        assert memberships(plan) == memberships(msgspec.json.decode(msgspec.json.encode(plan), type=Plan))
        assert sum(len(numbers) for numbers in conversations_of(plan).values()) == 150

    @pytest.mark.parametrize(
        "fields",
        [
            {"users": 0},
            {"users": 3, "conversations": 4, "members": 2, "senders": 3, "live": 3},
            {"members": 1},
            {"members": 2000, "users": 3000},
            {"senders": 101},
            {"rate": -1.0},
            {"window": 0},
            {"text_bytes": 10},
            {"processes": 0},
            {"traffic": "friends", "friends": 3, "rate": 1.0},
            {"traffic": "friends", "friends": 100, "rate": 1.0},
            {"traffic": "friends", "friends": 10, "rate": 0.0},
            {"traffic": "friends", "friends": 10, "rate": 50.0},
            {"traffic": "friends", "friends": 10, "rate": 1.0, "processes": 2},
            {"traffic": "parties", "conversations": 5, "members": 17},
            {"traffic": "parties", "conversations": 13, "members": 8},
        ],
    )
    def test_what_cannot_be_done_is_refused(self, fields):
        with pytest.raises(BadPlan):
            check(a_plan(**fields))

    @pytest.mark.parametrize(("users", "friends"), [(100, 50), (11, 10), (12, 2)])
    def test_everybody_has_as_many_friends(self, users, friends):
        plan = a_plan(traffic="friends", users=users, friends=friends, rate=0.5, members=users + 1)
        check(plan)
        pairs = {frozenset(pair) for pair in friendships(plan)}
        assert len(pairs) == users * friends // 2
        assert {sum(user in pair for pair in pairs) for user in range(users)} == {friends}

    def test_nobody_is_in_two_parties(self):
        plan = a_plan(traffic="parties", users=96, conversations=12, members=8)
        check(plan)
        found = memberships(plan)
        assert len({user for party in found for user in party}) == plan.clients == 96

    def test_users_of_a_prefix_are_the_same_in_every_run(self):
        assert user_id(a_plan(), 7) == user_id(a_plan(seed=9, users=500), 7)
        assert user_id(a_plan(), 7) != user_id(a_plan(prefix="other"), 7)

    @pytest.mark.parametrize(
        "url", ["http://192.0.2.1:8080", "https://127.0.0.1", "http://127.0.0.1/v1", "nonsense"]
    )
    def test_only_this_machine_and_only_cleartext(self, url):
        with pytest.raises(BadPlan):
            plan_of(parser().parse_args(["--url", url]))

    def test_another_machine_with_leave(self):
        options = parser().parse_args(["--url", "http://192.0.2.1:8080", "--i-own-this-server"])
        assert plan_of(options).address == ("192.0.2.1", 8080)


class Heard(WebSocket):
    """Remembers its messages, and why it ended."""

    def __init__(self, loop: EventLoop, sock: socket.socket) -> None:
        self.messages: list[bytes] = []
        self.why: str | None = None
        super().__init__(loop, sock)

    def message(self, payload: bytes) -> None:
        self.messages.append(payload)

    def lost(self, why: str) -> None:
        self.why = why


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    yield ours, theirs
    ours.close()
    theirs.close()


class TestWebSocket:
    SIZES = (0, 1, 125, 126, 127, 65535, 65536, 70000)

    @pytest.mark.parametrize("piece", [1, 3, 1000, 1 << 20])
    async def test_messages_are_whole_however_they_arrive(self, pair, piece):
        wire = Heard(EventLoop(), pair[0])
        sent = [bytes([65 + number]) * size for number, size in enumerate(self.SIZES)]
        data = b"".join(server_frame(payload) for payload in sent)
        for at in range(0, len(data), piece):
            wire.heard(data[at : at + piece])
        assert wire.messages == sent

    async def test_fragments_are_joined_and_pings_answered(self, pair):
        wire = Heard(EventLoop(), pair[0])
        wire.heard(server_frame(b"ab", 0x01) + server_frame(b"x", 0x89) + server_frame(b"cd", 0x80))
        assert wire.messages == [b"abcd"]
        assert pair[1].recv(100) == client_frame(b"x", 10)

    async def test_a_close_frame_ends_it(self, pair):
        wire = Heard(EventLoop(), pair[0])
        wire.heard(server_frame((4503).to_bytes(2, "big"), 0x88))
        assert wire.closed == "closed with 4503"

    @pytest.mark.parametrize("size", SIZES)
    def test_our_frames_are_masked_with_nothing(self, size):
        frame = client_frame(b"a" * size)
        assert frame[1] & 0x80
        assert frame.endswith(b"\0\0\0\0" + b"a" * size)


class TestHttp:
    @pytest.mark.parametrize("piece", [1, 7, 1000])
    async def test_a_response_is_whole_however_it_arrives(self, pair, piece):
        wire = Http(EventLoop(), pair[0])
        answers = []
        for status, body in ((200, b"abc"), (204, b""), (503, b"{}")):
            wire.send_request(b"GET / HTTP/1.1\r\n\r\n", lambda *answer: answers.append(answer))
            length = b"" if status == 204 else b"content-length: %d\r\n" % len(body)
            data = b"HTTP/1.1 %d x\r\nX: y\r\n%s\r\n%s" % (status, length, body)
            for at in range(0, len(data), piece):
                wire.heard(data[at : at + piece])
        assert answers == [(200, b"abc"), (204, b""), (503, b"{}")]

    async def test_who_waits_hears_of_the_end(self, pair):
        wire = Http(EventLoop(), pair[0])
        answers = []
        wire.send_request(b"x", lambda *answer: answers.append(answer))
        wire.close("gone")
        assert answers == [(0, b"gone")]


class Book:
    """A ledger that only remembers."""

    run_mark = "r"

    def __init__(self) -> None:
        self.seen_messages = SeenMessages("r")
        self.entries: list[tuple[object, ...]] = []

    def answered(self, conversation, due_ns, code):
        self.entries.append(("answered", conversation, due_ns, code))

    def delivered(self, conversation, messages):
        self.entries += [("delivered", number, due_ns) for _, number, due_ns, _ in messages]

    def skipped(self, track, events):
        track.skipped += events

    def fault(self, code):
        self.entries.append(("fault", code))


def an_event(offset: int, number: int, run: str = "r", sender: int = 3) -> bytes:
    content = f"load {run} {sender} {number} 99 abc"
    return msgspec.json.encode(
        {
            "type": "event",
            "channel": "conversation:c",
            "epoch": "e",
            "offset": offset,
            "event": "message_created",
            "data": {"id": "1", "content": content},
        }
    )


class TestSeat:
    @pytest.fixture
    def client(self, pair) -> Client:
        client = Client(EventLoop(), pair[0], b"", user=0, ledger=Book())
        client.tracks["conversation:c"] = Track(0, 10)
        return client

    @pytest.mark.parametrize(
        ("offsets", "numbers", "found"),
        [
            ((11, 12, 13), (1, 2, 3), (3, 0, 0)),
            ((11, 13), (1, 3), (2, 0, 1)),  # an offset is missing
            ((11, 11), (1, 1), (1, 1, 0)),  # the same offset twice
            ((11, 12), (1, 1), (2, 0, 1)),  # one message under two offsets
            ((11, 12), (2, 1), (2, 0, 1)),  # a sender's messages change places
        ],
    )
    async def test_each_once_and_in_order_is_noticed(self, client, offsets, numbers, found):
        for offset, number in zip(offsets, numbers, strict=True):
            client.message(an_event(offset, number))
        track = client.tracks["conversation:c"]
        assert (track.received, track.repeated, track.disordered) == found

    async def test_messages_of_others_are_not_ours(self, client):
        client.message(an_event(11, 1, run="other"))
        assert (client.tracks["conversation:c"].received, client.tracks["conversation:c"].offset) == (0, 11)

    async def test_a_snapshot_stands_for_what_it_skipped(self, client):
        client.message(
            b'{"type":"snapshot","channel":"conversation:c","epoch":"e","offset":15,"skipped":5,"data":{}}'
        )
        client.message(an_event(16, 9))
        track = client.tracks["conversation:c"]
        assert (track.skipped, track.received, track.disordered) == (5, 1, 0)

    async def test_a_lost_socket_leaves_no_message_without_an_answer(self, client):
        client.post("conversation:c", 0, "text", 5)
        client.close("closed by the server")
        assert client.ledger.entries == [
            ("answered", 0, 5, "CONNECTION_LOST"),
            ("fault", "closed by the server"),
        ]


class TestFamiliar:
    """What many sockets are sent alike is read once; what they count is the same as if each had read it."""

    def _track(
        self, pair, seen_messages: SeenMessages, pieces: list[bytes]
    ) -> tuple[tuple[object, ...], list[object]]:
        book = Book()
        book.seen_messages = seen_messages
        client = Client(EventLoop(), pair[0].dup(), b"", user=0, ledger=book)
        client.tracks["conversation:c"] = Track(0, 10)
        for piece in pieces:
            client.heard(piece)
        track = client.tracks["conversation:c"]
        client.close()
        return (track.received, track.repeated, track.disordered, track.offset, track.last), book.entries

    @pytest.mark.parametrize("seed", range(20))
    async def test_pieces_of_any_length_count_the_same(self, pair, seed):
        rng = random.Random(seed)
        frames = []
        for offset in range(11, 60):
            if rng.random() < 0.1:
                frames.append(server_frame(b'{"type":"reply","id":1,"ok":true}'))
            run = "r" if rng.random() < 0.8 else "other"
            number = offset if rng.random() < 0.9 else offset - 5
            frames.append(server_frame(an_event(offset, number, run=run)))
            if rng.random() < 0.1:
                frames.append(frames[-1])
        whole, pieces, at = b"".join(frames), [], 0
        while at < len(whole):
            size = len(frames[0]) * rng.randint(1, 3) if rng.random() < 0.5 else rng.randint(1, 900)
            pieces.append(whole[at : at + size])
            at += size
        bytewise = self._track(pair, SeenMessages("r"), [whole[at : at + 1] for at in range(len(whole))])
        seen_messages = SeenMessages("r")
        assert self._track(pair, seen_messages, pieces) == bytewise
        assert self._track(pair, seen_messages, pieces) == bytewise  # looked up this time
        assert self._track(pair, seen_messages, [whole]) == bytewise

    def test_only_events_of_one_channel_without_a_gap_are_remembered(self):
        one, two, four = (server_frame(an_event(offset, offset)) for offset in (1, 2, 4))
        seen_messages = SeenMessages("r")
        piece = seen_messages.look_up(one + two)
        assert piece is not None
        assert (piece.first, piece.last, len(piece.messages)) == (1, 2, 2)
        for other in (one + four, one + two[:-1], one + server_frame(b"x", 0x89), b"", server_frame(b"{}")):
            assert seen_messages.look_up(other) is None


class TestVerdict:
    async def test_what_is_missing_is_told(self, pair, autojump_clock):
        plan = a_plan(users=2, conversations=1, senders=2, live=2)
        chat = Chat(EventLoop(), Open(plan, 0, {}, ["c"]))
        client = Client(EventLoop(), pair[0], b"", user=0, ledger=chat)
        chat._clients[0] = client
        for name, received in (("conversation:c", 3), ("conversation:d", 5), ("conversation:e", 9)):
            client.tracks[name] = Track(0, 0)
            client.tracks[name].received = received
        verdict = await chat.settle([5], [6])
        assert (verdict.subscriptions, verdict.missing, verdict.repeated) == (3, 2, 3)
        assert not verdict.exact
