"""Messages over live sockets, so many in flight or so many a second, with exact checks of what arrives."""

import random
import time
from collections import Counter
from collections.abc import Sequence

import trio

from scripts.load.clients.client import Client, Track, connect_again, connect_client
from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open, Stopped, Tally, Verdict
from scripts.load.histogram import Histogram
from scripts.load.plan import conversations_of
from scripts.load.reopening import Reopening
from scripts.load.seen_messages import MARK, Message, SeenMessages

OPENING_AT_ONCE = 64
MAX_IN_FLIGHT = 20_000  # of one worker in the open loop: beyond it a server is drowned, not measured
RETRY_SECONDS = 0.1  # a refused message is not repeated at once, or a refusing server would be flooded
ANSWER_SECONDS = 10.0
SETTLE_SECONDS = 30.0
QUIET_SECONDS = 5.0  # when nothing arrives for so long, what is missing will not come
UNKNOWN = {"CONNECTION_LOST", "DATABASE_UNAVAILABLE"}  # the message may be kept or not (contract §1)
EXAMPLES = 5
_SENDERS_TRIED = 8  # draws of one without a message in flight, so that a window of eight spreads over eight


class Chat:
    """The clients of one worker, and their counts; implements `Traffic` and `Ledger`."""

    def __init__(self, loop: EventLoop, job: Open) -> None:
        self.run_mark = job.plan.run
        self.seen_messages = SeenMessages(job.plan.run)
        self._loop, self._job, self._plan = loop, job, job.plan
        self.reopening = Reopening(self._open_again)
        self._clients: dict[int, Client] = {}  # {user: their socket}
        self._senders: list[tuple[int, list[int]]] = []  # (user, numbers of their conversations)
        self._rng = random.Random(f"{job.plan.seed} {job.worker}")
        self._filler = "abcdefghi " * (job.plan.text_bytes // 10 + 1)
        self._next_number = job.worker  # grows by the number of workers, so that no two use the same
        self._sending = False
        self._in_flight = 0
        self._answered_all = trio.Event()  # set when nothing is in flight
        self._refused = 0  # messages of the closed loop that wait for their next try
        self._kept = [0] * job.plan.conversations
        self._unknown = [0] * job.plan.conversations
        self._audience = [0] * job.plan.conversations  # subscriptions of this worker, by conversation
        self._awaited: dict[int, int] = {}  # {number of a message: subscriptions that have not had it}
        self._acknowledgement, self._delivery, self._last = Histogram(), Histogram(), Histogram()
        self._delivered = self._received_bytes = 0
        self._errors: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    # What the clients report (client.Ledger).

    def answered(self, conversation: int, due_ns: int, code: str | None) -> None:
        """Take the answer to a message: `code` is None where it was kept, and says why not otherwise."""
        self._in_flight -= 1
        if not self._in_flight:
            self._answered_all.set()
        if code is None:
            self._kept[conversation] += 1
            self._counts["acknowledged"] += 1
            self._acknowledgement.add(time.monotonic_ns() - due_ns)
        else:
            self._errors[code] += 1
            if code in UNKNOWN:
                self._unknown[conversation] += 1
        if self._sending and not self._plan.rate:
            if code is None:
                self._send(time.monotonic_ns())
            else:
                self._refused += 1

    def delivered(self, conversation: int, messages: Sequence[Message]) -> None:
        """Count messages that have arrived at a subscription."""
        now_ns = time.monotonic_ns()
        self._delivered += len(messages)
        for _, number, due_ns, size in messages:
            self._received_bytes += size
            self._delivery.add(now_ns - due_ns)
            left = self._awaited.get(number, self._audience[conversation]) - 1
            if left:
                self._awaited[number] = left
            else:
                self._awaited.pop(number, None)
                self._last.add(now_ns - due_ns)

    def skipped(self, track: Track, events: int) -> None:
        """Count events that a snapshot stood for."""
        track.skipped += events
        self._counts["skipped"] += events

    def fault(self, code: str) -> None:
        """Count a socket that was lost, or a subscription that has ended."""
        self._errors[code] += 1

    # What the worker drives (traffic.Traffic).

    async def open(self) -> int:
        """Open this worker's clients and subscribe them; returns how many.

        Raises:
            UpgradeRefused, SubscribeRefused, OSError: the server does not let a client in.
        """
        of = conversations_of(self._plan)
        room = trio.CapacityLimiter(OPENING_AT_ONCE)
        async with trio.open_nursery() as nursery:
            for user in range(self._job.worker, self._plan.clients, self._plan.processes):
                nursery.start_soon(self._open_one, user, of.get(user, []), room)
        for user in sorted(self._clients):
            if user < self._plan.senders and of.get(user):
                self._senders.append((user, of[user]))
        return len(self._clients)

    async def _open_one(self, user: int, conversations: list[int], room: trio.CapacityLimiter) -> None:
        async with room:
            token = self._job.tokens[user]
            client = await connect_client(
                self._loop, self._plan.address, self._plan.host, token, user=user, ledger=self
            )
            self._clients[user] = client
            self.reopening.watch(user, client)
            if user < self._plan.live:
                for conversation in conversations:
                    self._audience[conversation] += 1
                    await client.subscribe(self._channel(conversation), conversation)

    async def _open_again(self, user: int) -> Client:
        plan, former = self._plan, self._clients[user]
        client = await connect_again(former, plan.address, plan.host, self._job.tokens[user])
        self._clients[user] = client
        return client

    async def drive(self) -> None:
        """Send until stopped."""
        self._sending = True
        if not self._senders:
            return
        if self._plan.rate:
            await self._open_loop(self._plan.rate / self._plan.processes)
        else:
            await self._closed_loop(self._share(self._plan.window))

    def mark(self) -> Tally:
        """The counts since the last mark."""
        counts, self._counts = self._counts, Counter()
        errors, self._errors = self._errors, Counter()
        delivered, self._delivered = self._delivered, 0
        received, self._received_bytes = self._received_bytes, 0
        return Tally(
            **counts,
            delivered=delivered,
            received_bytes=received,
            in_flight=self._in_flight,
            open_sockets=sum(not client.closed for client in self._clients.values()),
            errors=dict(errors),
            acknowledgement=self._acknowledgement.take(),
            delivery=self._delivery.take(),
            last=self._last.take(),
        )

    async def stop(self) -> Stopped:
        """Send no more; messages without an answer within 10 s count as unknown."""
        self._sending = False
        self._answered_all = trio.Event()
        if not self._in_flight:
            self._answered_all.set()
        with trio.move_on_after(ANSWER_SECONDS):
            await self._answered_all.wait()
        unknown = list(self._unknown)
        for client in self._clients.values():
            for conversation, _ in client.pending.values():
                unknown[conversation] += 1
        return Stopped(acknowledged=list(self._kept), unknown=unknown)

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """Wait until every subscription has had `least` messages, or nothing more comes, and judge.

        A subscription whose socket was lost is judged too: it misses what it was not shown.
        """
        tracks = [
            (client, channel, track)
            for client in self._clients.values()
            for channel, track in client.tracks.items()
        ]
        await self._settled([track for _, _, track in tracks], least)
        missing = repeated = disordered = skipped = expected = 0
        examples: list[str] = []
        for client, channel, track in tracks:
            number = track.conversation
            lacks = max(0, least[number] - track.received - track.skipped)
            extra = max(0, track.received - most[number]) + track.repeated
            if (lacks or extra or track.disordered) and len(examples) < EXAMPLES:
                examples.append(
                    f"user {client.user}, {channel}: {track.received} of {least[number]} messages, "
                    f"{track.skipped} skipped, {extra} repeated, {track.disordered} out of order"
                )
            missing, repeated, disordered = missing + lacks, repeated + extra, disordered + track.disordered
            skipped, expected = skipped + track.skipped, expected + least[number]
        return Verdict(
            subscriptions=len(tracks),
            expected=expected,
            missing=missing,
            repeated=repeated,
            disordered=disordered,
            skipped=skipped,
            examples=examples,
        )

    async def _settled(self, tracks: list[Track], least: list[int]) -> None:
        """Wait while messages are missing and others still arrive.

        This is polled, because an event would cost a comparison for every delivery.
        """
        before, quiet_since = -1, trio.current_time()
        with trio.move_on_after(SETTLE_SECONDS):
            while any(t.received + t.skipped < least[t.conversation] for t in tracks):
                arrived = sum(t.received for t in tracks)
                if arrived != before:
                    before, quiet_since = arrived, trio.current_time()
                elif trio.current_time() - quiet_since > QUIET_SECONDS:
                    return
                await trio.sleep(0.05)

    # Sending.

    async def _closed_loop(self, window: int) -> None:
        for _ in range(window):
            self._send(time.monotonic_ns())
        while self._sending:
            await trio.sleep(RETRY_SECONDS)
            again, self._refused = self._refused, 0
            for _ in range(again):
                self._send(time.monotonic_ns())

    async def _open_loop(self, rate: float) -> None:
        """Send at fixed moments; a message's latency counts from its moment, also when it was sent late."""
        began, number = time.monotonic_ns(), 0
        while self._sending:
            due_ns = began + int(number * 1e9 / rate)
            late_ns = time.monotonic_ns() - due_ns
            if late_ns < 0:
                await trio.sleep(-late_ns / 1e9)
                continue
            number += 1
            if self._in_flight >= MAX_IN_FLIGHT:
                self._counts["unsent"] += 1
            else:
                self._send(due_ns)
            if number % 64 == 0:
                await trio.lowlevel.checkpoint()  # answers must be read even when messages are late

    def _send(self, due_ns: int) -> None:
        """Send a message by a random sender, if possible one without a message in flight, into a random conversation of
        theirs."""
        client, conversations = self._sender()
        if client.closed:
            if self._plan.rate:
                self._counts["unsent"] += 1  # in the open loop its moment is over
            else:
                self._refused += 1  # in the closed loop it is tried again later, perhaps by another sender
            return
        conversation = conversations[int(self._rng.random() * len(conversations))]
        number = self._next_number
        self._next_number += self._plan.processes
        self._in_flight += 1
        head = f"{MARK}{self.run_mark} {client.user} {number} {due_ns} "
        text = head + self._filler[: max(1, self._plan.text_bytes - len(head))]
        client.post(self._channel(conversation), conversation, text, due_ns)

    def _sender(self) -> tuple[Client, list[int]]:
        """A random sender; one without a message in flight, if that is found soon."""
        at = int(self._rng.random() * len(self._senders))
        for step in range(_SENDERS_TRIED):
            user, conversations = self._senders[(at + step) % len(self._senders)]
            if not self._clients[user].pending:
                return self._clients[user], conversations
        user, conversations = self._senders[at]
        return self._clients[user], conversations

    def _channel(self, conversation: int) -> str:
        return "conversation:" + self._job.conversations[conversation]

    def _share(self, whole: int) -> int:
        """This worker's part of a number, at least 1."""
        part, rest = divmod(whole, self._plan.processes)
        return max(1, part + (self._job.worker < rest))
