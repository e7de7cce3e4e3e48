"""Parties that choose and get ready: once a second the leader selects something, and half a second later one member
is ready. Every member's socket must show each revision (delta), or ever newer ones up to the last (snapshot).
"""

import time
from typing import Any

import msgspec
import trio

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open, Stopped, Tally, Verdict
from scripts.load.clients.http import RequestFailed, Requests
from scripts.load.clients.stream_client import StreamClient
from scripts.load.meter import Meter
from scripts.load.plan import memberships
from scripts.load.reopening import Reopening
from scripts.load.waiting import wait_until

TARGET = "/v1/social/live?channels="
OPENING_AT_ONCE = 64
CONNECTIONS = 32
REPLY_SECONDS = 30.0
ANSWER_SECONDS = 10.0
SETTLE_SECONDS = 10.0
SELECTION, READY = "/v1/social/party/lobby/selection", "/v1/social/party/lobby/ready"


class _Lobby(msgspec.Struct, rename="camel"):
    requirement_hash: str | None = None


class Shown(msgspec.Struct):
    """The fields of a party that matter here, in answers and frames."""

    revision: int
    lobby: _Lobby


class _Data(msgspec.Struct):
    party: Shown | None = None


class _Frame(msgspec.Struct):
    """The fields of a server frame that matter here."""

    type: str
    channel: str = ""
    code: str = ""
    ok: bool = True
    data: _Data | None = None


_decode_frame = msgspec.json.Decoder(_Frame).decode
_decode_answer = msgspec.json.Decoder(_Data).decode


class Party:
    """One party, with what its members' sockets have shown of it.

    Args:
        members: user numbers, the leader first.
    """

    def __init__(self, members: tuple[int, ...]) -> None:
        self.members = members
        self.newest = 0  # the newest revision that the server has answered
        self.requirement_hash: str | None = None
        self.shown = dict.fromkeys(members, 0)  # {user: revision that was shown last}
        self.disordered = 0
        # An answer and the frames of its revision come in any order, and the first waits here for the other: {revision:
        # when the write was due}, and {revision: when frames with it came}, ns.
        self._due: dict[int, int] = {}
        self._came: dict[int, list[int]] = {}

    def answered(self, party: Shown, due_ns: int) -> list[int]:
        """Take the answer to a write; returns the latencies, in ns, of the frames that came before the answer."""
        self.newest = max(self.newest, party.revision)
        self.requirement_hash = party.lobby.requirement_hash
        self._due[party.revision] = due_ns
        self._due.pop(party.revision - 100, None)
        return [came_ns - due_ns for came_ns in self._came.pop(party.revision, ())]

    def showed(self, user: int, party: Shown, now_ns: int, *, each: bool) -> int | None:
        """Take a frame of a member; returns its latency in ns, None while its write has not been answered.

        Args:
            each: whether every revision must be shown, and none left out.
        """
        before, revision = self.shown[user], party.revision
        if before and revision != before and (revision < before or (each and revision > before + 1)):
            self.disordered += 1
        self.shown[user] = revision
        if revision == before or not before:
            return None
        due_ns = self._due.get(revision)
        if due_ns is not None:
            return now_ns - due_ns
        self._came.setdefault(revision, []).append(now_ns)
        return None

    @property
    def behind(self) -> int:
        """How many members have not been shown the newest revision."""
        return sum(revision < self.newest for revision in self.shown.values())


class Parties:
    """The parties of one worker; implements `Traffic`."""

    def __init__(self, loop: EventLoop, job: Open) -> None:
        self._loop, self._job, self._plan = loop, job, job.plan
        mine = list(enumerate(memberships(job.plan)))[job.worker :: job.plan.processes]
        self._parties = [Party(members) for _, members in mine]
        self._of = {user: party for party in self._parties for user in party.members}
        self.reopening = Reopening(self._enter)
        self._sockets: dict[int, StreamClient] = {}
        self._requests = Requests(loop, job.plan.address, job.plan.host, CONNECTIONS)
        self._sending = False
        self._in_flight = 0
        self._answered_all = trio.Event()
        self._meter = Meter()
        self._unsent = 0

    async def open(self) -> int:
        """Open the members' sockets and subscribe them; returns how many."""
        room = trio.CapacityLimiter(OPENING_AT_ONCE)

        async def open_one(user: int) -> None:
            async with room:
                self.reopening.watch(user, await self._enter(user))

        async with trio.open_nursery() as nursery:
            for user in self._of:
                nursery.start_soon(open_one, user)
        await wait_until(lambda: all(all(party.shown.values()) for party in self._parties), REPLY_SECONDS)
        return len(self._sockets)

    async def _enter(self, user: int) -> StreamClient:
        plan = self._plan
        self._of[user].shown[user] = 0  # the first revision that a socket shows is compared with nothing
        socket = self._sockets[user] = await StreamClient.open(
            self._loop, plan.address, plan.host, TARGET, self._job.tokens[user], user=user, ledger=self
        )
        command = {"id": 1, "op": "subscribe", "channel": "party", "params": {"mode": plan.mode}}
        socket.say(msgspec.json.encode(command))
        return socket

    async def drive(self) -> None:
        """Choose and get ready until stopped; the parties are spread over the second."""
        self._sending = True
        async with trio.open_nursery() as nursery:
            for place, party in enumerate(self._parties):
                nursery.start_soon(self._play, party, place / len(self._parties))

    def heard(self, user: int, payload: bytes) -> None:
        """Take a frame that has arrived at a member's socket."""
        frame = _decode_frame(payload)
        if frame.type in ("snapshot", "event"):
            self._meter.received_bytes += len(payload)
            if frame.data is not None and frame.data.party is not None:
                each = self._plan.mode == "delta"
                latency = self._of[user].showed(user, frame.data.party, time.monotonic_ns(), each=each)
                self._count([] if latency is None else [latency])
        elif not frame.ok or frame.type in ("unsubscribed", "reconnect"):
            self._meter.errors[frame.code or frame.type] += 1

    def lost(self, why: str) -> None:
        """Note that a socket has ended."""
        self._meter.errors[why] += 1

    def mark(self) -> Tally:
        """The counts since the last mark."""
        unsent, self._unsent = self._unsent, 0
        return self._meter.take(
            in_flight=self._in_flight,
            open_sockets=sum(not socket.closed for socket in self._sockets.values()),
            unsent=unsent,
        )

    async def stop(self) -> Stopped:
        """Write no more, and wait for the answers."""
        self._sending = False
        self._answered_all = trio.Event()
        if self._in_flight:
            with trio.move_on_after(ANSWER_SECONDS):
                await self._answered_all.wait()
        return Stopped(acknowledged=[], unknown=[])

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """Wait until every member was shown the last revision of their party, and judge."""
        del least, most
        await wait_until(lambda: not any(party.behind for party in self._parties), SETTLE_SECONDS)
        examples = [
            f"party {place}: {party.behind} members behind revision {party.newest}, {party.disordered} out of order"
            for place, party in enumerate(self._parties)
            if party.behind or party.disordered
        ]
        return Verdict(
            subscriptions=len(self._of),
            expected=len(self._of),
            missing=sum(party.behind for party in self._parties),
            disordered=sum(party.disordered for party in self._parties),
            examples=examples[:5],
        )

    async def _play(self, party: Party, offset_seconds: float) -> None:
        leader, *others = party.members
        second = 0
        await trio.sleep(offset_seconds)
        next_at = trio.current_time()
        while self._sending:
            await self._write(party, leader, SELECTION, _selection(second), due=next_at)
            await trio.sleep_until(next_at + 0.5)
            if self._sending:
                ready = _ready(party.requirement_hash)
                await self._write(party, others[second % len(others)], READY, ready, due=next_at + 0.5)
            second += 1
            # Writes that fell due while an earlier one waited for its answer are left out.
            missed = max(0, int(trio.current_time() - next_at - 1))
            self._unsent += 2 * missed
            next_at += 1 + missed
            await trio.sleep_until(next_at)

    async def _write(self, party: Party, user: int, path: str, body: object, *, due: float) -> None:
        """Send one write; its latency counts from when it was due, even when the one before has kept it waiting."""
        due_ns = time.monotonic_ns() - int((trio.current_time() - due) * 1e9)
        self._in_flight += 1
        try:
            answer = await self._requests.send("PUT", path, self._job.tokens[user], body)
        except (RequestFailed, OSError) as error:
            self._meter.errors[str(error)[:80]] += 1
        else:
            self._meter.acknowledgement.add(time.monotonic_ns() - due_ns)
            self._meter.acknowledged += 1
            shown = _decode_answer(answer).party
            if shown is not None:
                self._count(party.answered(shown, due_ns))
        self._in_flight -= 1
        if not self._in_flight:
            self._answered_all.set()

    def _count(self, latencies: list[int]) -> None:
        for latency in latencies:
            self._meter.delivered += 1
            self._meter.delivery.add(max(0, latency))


def _selection(number: int) -> dict[str, Any]:
    """The body of a lobby selection (service-api §2), which differs by `number`."""
    return {
        "targetKind": "minigame",
        "targetId": f"arena-{number % 7}",
        "displayName": f"Arena {number}",
        "serverAddress": "play.example.org",
        "minigame": {"mode": "duel", "variant": "classic", "roundBased": False},
        "profileRequirement": {"minecraftVersion": "1.21", "loader": "fabric", "requiredMods": []},
    }


def _ready(requirement_hash: str | None) -> dict[str, Any]:
    """The body that makes a member ready for what was selected last."""
    return {
        "ready": True,
        "profilePrepared": True,
        "profileId": "default",
        "temporaryProfile": False,
        "requirementHash": requirement_hash,
    }
