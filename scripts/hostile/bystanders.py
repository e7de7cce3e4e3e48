"""Everybody else, in a process of their own: a probe of `/health`, and users who post and read at an even pace."""

import multiprocessing
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import cycle
from multiprocessing.connection import Connection

import trio

from scripts.hostile.wire import Line, Lost
from scripts.load.histogram import Histogram

PROBE_SECONDS = 0.005
USER_SECONDS = 0.4  # well within the limits of a user and of a conversation
ANSWERED = 500  # below it a user had what they asked for, or was told why not


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The users who go on as usual.

    Args:
        address, host: the server's (IP address, port), and the Host field.
        tokens: access tokens of users, each with a conversation of their own.
        conversations: the ids of those conversations.
    """

    address: tuple[str, int]
    host: str
    tokens: tuple[str, ...]
    conversations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the bystanders have noticed in some stretch of time.

    Args:
        probe_worst_ms, probe_p99_ms: how long `/health` took, or has taken so far.
        users_p50_ms, users_p99_ms: how long a post or a list took, from when it was due; None when nothing was
            answered.
        answered: how many posts and lists were answered.
        failed: how many requests, probes too, were answered with a 5xx, or not at all.
    """

    probe_worst_ms: float
    probe_p99_ms: float
    users_p50_ms: float | None
    users_p99_ms: float | None
    answered: int
    failed: int


class Watch:
    """Asks the other process what was seen."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def look(self) -> Seen:
        """What was seen since the last look. Blocks for a moment."""
        self._pipe.send("look")
        seen: Seen = self._pipe.recv()
        return seen


@contextmanager
def watching(neighbours: Neighbours) -> Iterator[Watch]:
    """Let the bystanders post, read and probe for the block."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_live, args=(neighbours, theirs), daemon=True)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited by the child: Ctrl-C is for us alone
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        ours.recv()
        yield Watch(ours)
    finally:
        with suppress(OSError):
            ours.send("stop")
        process.join(5)
        if process.is_alive():
            process.kill()


class _Counts:
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.probe, self.users = Histogram(), Histogram()
        self.worst_ns = self.answered = self.failed = 0
        self.probing_since_ns: int | None = None

    def take(self) -> Seen:
        probing_since_ns = self.probing_since_ns
        if probing_since_ns is not None:
            self.worst_ns = max(self.worst_ns, time.monotonic_ns() - probing_since_ns)
        seen = Seen(
            self.worst_ns / 1e6,
            self.probe.quantile_ms(0.99) or 0.0,
            self.users.quantile_ms(0.50),
            self.users.quantile_ms(0.99),
            self.answered,
            self.failed,
        )
        self.clear()
        self.probing_since_ns = probing_since_ns
        return seen


def _live(neighbours: Neighbours, pipe: Connection) -> None:
    trio.run(_run, neighbours, pipe)


async def _run(neighbours: Neighbours, pipe: Connection) -> None:
    counts = _Counts()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_probe, neighbours, counts)
        for number, (token, conversation) in enumerate(
            zip(neighbours.tokens, neighbours.conversations, strict=True)
        ):
            nursery.start_soon(_use, neighbours, counts, token, conversation, number / len(neighbours.tokens))
        pipe.send("ready")
        while True:
            await trio.lowlevel.wait_readable(pipe.fileno())
            if pipe.recv() == "stop":
                nursery.cancel_scope.cancel()
                return
            pipe.send(counts.take())


async def _probe(neighbours: Neighbours, counts: _Counts) -> None:
    with Line(neighbours.address, neighbours.host) as line:
        while True:
            counts.probing_since_ns = began_ns = time.monotonic_ns()
            await _asked(line, counts, "GET", "/health")
            counts.probing_since_ns = None
            taken_ns = time.monotonic_ns() - began_ns
            counts.worst_ns = max(counts.worst_ns, taken_ns)
            counts.probe.add(taken_ns)
            await trio.sleep(PROBE_SECONDS)


async def _use(neighbours: Neighbours, counts: _Counts, token: str, conversation: str, phase: float) -> None:
    messages = f"/v1/social/chat/conversations/{conversation}/messages"
    deeds = (("POST", messages, {"content": "as usual"}), ("GET", f"{messages}?limit=20", None))
    due = trio.current_time() + phase * USER_SECONDS
    with Line(neighbours.address, neighbours.host, token) as line:
        for method, target, body in cycle(deeds):
            await trio.sleep_until(due)
            if await _asked(line, counts, method, target, body):
                counts.users.add(int((trio.current_time() - due) * 1e9))
                counts.answered += 1
            due += USER_SECONDS


async def _asked(line: Line, counts: _Counts, method: str, target: str, body: object = None) -> bool:
    try:
        status, _ = await line.ask(method, target, body)
    except Lost:
        status = ANSWERED
    if status >= ANSWERED:
        counts.failed += 1
    return status < ANSWERED
