"""The load test's friends and parties: what they count as late, too early or missing is so."""

import time

import msgspec
import pytest
import trio

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open, Verdict
from scripts.load.clients.websocket import upgrade
from scripts.load.histogram import Histogram
from scripts.load.plan import Plan, user_id
from scripts.load.report import WORDS, progress_line, report, table
from scripts.load.run import Interval, Outcome
from scripts.load.workloads.friends import GRACE_NS, Friends, Watched
from scripts.load.workloads.parties import Parties, Party, Shown
from tests.scripts.test_load import server_frame


def a_plan(**fields) -> Plan:
    return Plan(host="127.0.0.1:1", address=("127.0.0.1", 1), **fields)


def friends_frame(plan: Plan, online: dict[int, bool]) -> bytes:
    entries = [{"friendId": user_id(plan, user), "online": here} for user, here in online.items()]
    return msgspec.json.encode({"type": "snapshot", "channel": "friends", "data": {"friends": entries}})


class TestFriends:
    """What sockets show of friends is compared with what they did."""

    @pytest.fixture
    def friends(self) -> Friends:
        plan = a_plan(traffic="friends", users=4, friends=2, rate=0.1)
        friends = Friends(EventLoop(), Open(plan, 0, {}, []))
        for user in range(4):
            friends._shown[user] = Watched()
        return friends

    def _become(self, friends: Friends, user: int, online: bool, ago_ns: int) -> None:
        friends._become(user, online=online, due_ns=time.monotonic_ns() - ago_ns)

    async def test_a_change_is_counted_from_when_it_was_due(self, friends):
        plan = friends._plan
        friends.heard(0, friends_frame(plan, {1: True, 3: True}))
        self._become(friends, 1, online=False, ago_ns=200_000_000)
        friends.heard(0, friends_frame(plan, {1: False, 3: True}))
        friends.heard(0, friends_frame(plan, {1: False, 3: True}))
        tally = friends.mark()
        assert (tally.acknowledged, tally.delivered) == (1, 1)
        assert Histogram(tally.delivery).quantile_ms(0.5) == pytest.approx(200, rel=0.05)

    @pytest.mark.parametrize("due_in_ns", [GRACE_NS, None])
    async def test_what_is_shown_too_early_or_never_happened_is_told(
        self, friends, autojump_clock, due_in_ns
    ):
        plan = friends._plan
        friends.heard(0, friends_frame(plan, {1: True, 3: True}))
        if due_in_ns is not None:
            self._become(friends, 1, online=False, ago_ns=-due_in_ns)
        friends.heard(0, friends_frame(plan, {1: False, 3: True}))
        verdict = await friends.settle([], [])
        assert (verdict.disordered, verdict.exact) == (1, False)

    async def test_who_is_not_shown_in_the_end_is_missing(self, friends, autojump_clock):
        plan = friends._plan
        ring = {0: (1, 3), 1: (0, 2), 2: (1, 3), 3: (0, 2)}
        for user, others in ring.items():
            friends.heard(user, friends_frame(plan, dict.fromkeys(others, True)))
        assert (await friends.settle([], [])).exact
        friends.heard(2, friends_frame(plan, {3: True}))
        verdict = await friends.settle([], [])
        assert (verdict.missing, verdict.expected) == (1, 8)
        assert verdict.examples == ["user 2 is shown 1 of 2 friends online"]

    async def test_frames_of_other_sorts_are_faults(self, friends):
        friends.heard(0, b'{"type":"hello"}')
        friends.heard(0, b'{"type":"unsubscribed","channel":"friends","code":"FORBIDDEN"}')
        friends.lost("closed with 1011")
        assert friends.mark().errors == {"FORBIDDEN": 1, "closed with 1011": 1}


def a_party(revision: int) -> Shown:
    return msgspec.convert({"revision": revision, "lobby": {"requirementHash": "h"}}, Shown)


class TestParties:
    """Revisions as members are shown them."""

    @pytest.mark.parametrize(
        ("revisions", "each", "disordered"),
        [
            ((5, 6, 7), True, 0),
            ((5, 6, 6, 7), True, 0),  # an invite shows the same revision again
            ((5, 7), True, 1),
            ((5, 7, 12), False, 0),
            ((5, 6, 5), True, 1),
            ((5, 7, 6), False, 1),
        ],
    )
    def test_skipped_and_falling_revisions_are_noticed(self, revisions, each, disordered):
        party = Party((0, 1))
        for revision in revisions:
            party.showed(1, a_party(revision), 0, each=each)
        assert party.disordered == disordered

    def test_a_frame_may_come_before_the_answer(self):
        party = Party((0, 1))
        for user in (0, 1):
            assert party.showed(user, a_party(1), 0, each=True) is None
        assert party.showed(0, a_party(2), 150, each=True) is None
        assert party.answered(a_party(2), 100) == [50]
        assert party.showed(1, a_party(2), 180, each=True) == 80
        assert (party.behind, party.requirement_hash) == (0, "h")

    def test_who_lacks_the_newest_is_behind(self):
        party = Party((0, 1))
        party.showed(0, a_party(3), 0, each=False)
        party.answered(a_party(4), 0)
        assert party.behind == 2

    async def test_parties_are_dealt_out_whole_and_judged(self, autojump_clock):
        plan = a_plan(traffic="parties", users=24, conversations=3, members=8, processes=2)
        first, second = (Parties(EventLoop(), Open(plan, worker, {}, [])) for worker in range(2))
        assert [party.members[0] for party in (*first._parties, *second._parties)] == [0, 16, 8]
        frame = {"type": "event", "channel": "party", "event": "party_updated"}
        for user in range(8, 16):
            for revision in (1, 2) if user != 9 else (1,):
                data = {"party": {"revision": revision, "lobby": {}}, "invites": []}
                second.heard(user, msgspec.json.encode({**frame, "data": data}))
        second._parties[0].answered(a_party(2), 0)
        verdict = await second.settle([], [])
        assert (verdict.subscriptions, verdict.missing, verdict.exact) == (8, 1, False)
        assert verdict.examples == ["party 0: 1 members behind revision 2, 0 out of order"]


class TestReport:
    @pytest.mark.parametrize("traffic", ["chat", "friends", "parties"])
    def test_a_report_says_what_was_done(self, traffic):
        plan = a_plan(traffic=traffic, rate=5.0, friends=4)
        seen = Interval(seconds=2.0, acknowledged=10, delivered=40, cpu_ns=500_000_000)
        seen.delivery.add(3_000_000)
        result = report(plan, Outcome(8, [seen], Verdict(subscriptions=8, expected=32)), None)
        assert (result.messages_per_second, result.server_cores) == (5.0, 0.25)
        text = table(result)
        assert f"{WORDS[traffic][0]:<14}         5 /s" in text
        assert "server        0.25 cores" in text
        assert progress_line(traffic, 1, seen).startswith(f"   1 s         5 {WORDS[traffic][0]}/s")


async def test_the_first_frames_may_come_with_the_handshake():
    frame = server_frame(b"x" * 50_000)
    listener = await trio.open_tcp_listeners(0, host="127.0.0.1")

    async def serve(stream: trio.SocketStream) -> None:
        await stream.receive_some(4096)
        await stream.send_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + frame)
        await stream.receive_some(1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, listener)
        port = listener[0].socket.getsockname()[1]
        sock, rest = await upgrade(("127.0.0.1", port), "h", "/", "t")
        assert frame.startswith(rest)
        sock.close()
        nursery.cancel_scope.cancel()
