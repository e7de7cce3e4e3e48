"""Friends who come and go: sockets are closed and opened again, and every friend's socket must show it.

A change is due when the server may show it at the earliest: a user is online as soon as their socket is requested, and
offline once the grace has passed since it was closed.
"""

import random
import time
from collections import Counter

import msgspec
import trio

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open, Stopped, Tally, Verdict
from scripts.load.clients.stream_client import StreamClient
from scripts.load.clients.websocket import UpgradeRefused
from scripts.load.meter import Meter
from scripts.load.plan import AWAY_SECONDS, friendships, user_id
from scripts.load.reopening import Reopening
from scripts.load.waiting import wait_until

TARGET = "/v1/social/live?channels=friends"
OPENING_AT_ONCE = 64
GRACE_NS = 10_000_000_000  # contract §5
EARLY_NS = 50_000_000  # how much earlier than due a change may show, as clocks differ a little
SETTLE_SECONDS = 10.0


class _Friend(msgspec.Struct, rename="camel"):
    friend_id: str
    online: bool


class _Data(msgspec.Struct):
    friends: list[_Friend] = []


class _Frame(msgspec.Struct):
    """The fields of a server frame that matter here."""

    type: str
    channel: str = ""
    code: str = ""
    data: _Data | None = None


_decode = msgspec.json.Decoder(_Frame).decode


class Watched:
    """What one socket shows of its user's friends.

    Args:
        users: the numbers of the friends, in the order of the frame.
        online: whether each of them is online, in the same order.
    """

    __slots__ = ("ids", "online", "users")

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.users: list[int] = []
        self.online: list[bool] = []


class Friends:
    """The sockets of all users, and what they show of each other; implements `Traffic`."""

    def __init__(self, loop: EventLoop, job: Open) -> None:
        self._loop, self._job, self._plan = loop, job, job.plan
        self._number = {user_id(job.plan, user): user for user in range(job.plan.users)}
        self._friends: Counter[int] = Counter(user for pair in friendships(job.plan) for user in pair)
        self.reopening = Reopening(self._enter)
        self._sockets: dict[int, StreamClient] = {}
        self._shown: dict[int, Watched] = {}
        self._due: dict[
            int, tuple[bool, int]
        ] = {}  # {user: (what they became last, when that was due in ns)}
        self._sending = False
        self._away = 0
        self._all_back = trio.Event()
        self._early = 0
        self._unsent = 0
        self._meter = Meter()

    async def open(self) -> int:
        """Open all sockets, and wait until each shows something; returns how many."""
        room = trio.CapacityLimiter(OPENING_AT_ONCE)

        async def open_one(user: int) -> None:
            async with room:
                self._due[user] = (True, time.monotonic_ns())
                await self._enter(user)

        async with trio.open_nursery() as nursery:
            for user in range(self._plan.users):
                nursery.start_soon(open_one, user)
        await wait_until(self._all_shown, SETTLE_SECONDS)
        return len(self._sockets)

    async def drive(self) -> None:
        """Let users leave and come back, `rate` changes a second, until stopped."""
        self._sending = True
        order = list(range(self._plan.users))
        random.Random(self._plan.seed).shuffle(order)
        began, left = trio.current_time(), 0
        async with trio.open_nursery() as nursery:
            while self._sending:
                # A user who leaves comes back as well, which is the other half of the changes.
                due = int((trio.current_time() - began) * self._plan.rate / 2) + 1
                for number in range(left, due):
                    nursery.start_soon(self._leave_and_return, order[number % len(order)])
                left = due
                await trio.sleep(0.02)

    def heard(self, user: int, payload: bytes) -> None:
        """Take a frame that has arrived at a user's socket."""
        frame = _decode(payload)
        if frame.type == "snapshot" and frame.data is not None:
            self._take(user, frame.data.friends, len(payload))
        elif frame.type in ("unsubscribed", "reconnect"):
            self._meter.errors[frame.code or frame.type] += 1

    def lost(self, why: str) -> None:
        """Note that a socket has ended without our closing it."""
        self._meter.errors[why] += 1

    def mark(self) -> Tally:
        """The counts since the last mark."""
        unsent, self._unsent = self._unsent, 0
        return self._meter.take(
            in_flight=self._away,
            open_sockets=sum(not socket.closed for socket in self._sockets.values()),
            unsent=unsent,
        )

    async def stop(self) -> Stopped:
        """Let no user leave any more, and wait until all are back."""
        self._sending = False
        self._all_back = trio.Event()
        if self._away:
            with trio.move_on_after(2 * AWAY_SECONDS):
                await self._all_back.wait()
        return Stopped(acknowledged=[], unknown=[])

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """Judge, as all users are back, whether each socket shows all its user's friends online."""
        del least, most
        await wait_until(self._all_shown, SETTLE_SECONDS)
        examples = [
            f"user {user} is shown {self._online(user)} of {friends} friends online"
            for user, friends in self._friends.items()
            if self._online(user) != friends
        ]
        return Verdict(
            subscriptions=len(self._sockets),
            expected=self._friends.total(),
            missing=sum(max(0, friends - self._online(user)) for user, friends in self._friends.items()),
            disordered=self._early,
            examples=examples[:5],
        )

    async def _enter(self, user: int) -> StreamClient:
        plan = self._plan
        self._shown[user] = Watched()
        socket = self._sockets[user] = await StreamClient.open(
            self._loop, plan.address, plan.host, TARGET, self._job.tokens[user], user=user, ledger=self
        )
        self.reopening.watch(user, socket)
        return socket

    async def _leave_and_return(self, user: int) -> None:
        if self._sockets[user].closed:
            self._unsent += 2  # a user whose socket is lost can neither leave nor come back
            return
        self._away += 1
        self._sockets[user].close()
        self._become(user, online=False, due_ns=time.monotonic_ns() + GRACE_NS)
        await trio.sleep(AWAY_SECONDS)
        self._become(user, online=True, due_ns=time.monotonic_ns())
        try:
            await self._enter(user)
        except (UpgradeRefused, OSError) as error:
            self._meter.errors[str(error)[:80]] += 1
            self.reopening.lost(user)
        self._away -= 1
        if not self._away:
            self._all_back.set()

    def _become(self, user: int, *, online: bool, due_ns: int) -> None:
        self._due[user] = (online, due_ns)
        self._meter.acknowledged += 1

    def _take(self, user: int, friends: list[_Friend], size: int) -> None:
        """Compare a frame with the one before; the first of a socket is compared with nothing."""
        now_ns = time.monotonic_ns()
        shown = self._shown[user]
        self._meter.received_bytes += size
        ids, online = [one.friend_id for one in friends], [one.online for one in friends]
        if ids != shown.ids:
            shown.ids, shown.users = ids, [self._number.get(id, -1) for id in ids]
        elif online != shown.online:
            for friend, before, after in zip(shown.users, shown.online, online, strict=True):
                if before != after:
                    self._saw(friend, after, now_ns)
        shown.online = online

    def _saw(self, friend: int, online: bool, now_ns: int) -> None:
        became, due_ns = self._due.get(friend, (not online, 0))
        if became != online or now_ns < due_ns - EARLY_NS:
            self._early += 1
            return
        self._meter.delivered += 1
        self._meter.delivery.add(max(0, now_ns - due_ns))

    def _online(self, user: int) -> int:
        return sum(self._shown[user].online)

    def _all_shown(self) -> bool:
        return all(self._online(user) == friends for user, friends in self._friends.items())
