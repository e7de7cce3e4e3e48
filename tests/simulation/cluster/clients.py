"""Who sends and who watches: what each has asked for, and what it was told."""

from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any, Literal

import msgspec
import trio

from actors.kernel.subscription import Subscription, WatchRequest
from persistence.journal.turn import Receipt
from tests.kernel.folding import fold
from tests.kernel.ledger import Viewer
from tests.simulation.cluster.node import ClusterNode
from tests.simulation.image import START_MS
from tests.support.sinks import JsonEnvelope, Socket

ENVELOPE = JsonEnvelope()

TRIES_MAX = 6


@dataclass(slots=True, eq=False)
class Deposit:
    """One client puts 1 into a ledger, so that the reply says as which: who was answered with 7 was the seventh.

    Args:
        number: unique in the run.
        id: of the ledger.
        keyed: it carries an Idempotency-Key, so that it may be repeated whatever became of it.
        avoids: a node that a balancer has found out not to answer, as long as there are others.

    Attributes:
        attempts: the names under which it was entered, one for each attempt.
        fate: what the client knows: waiting, done, refused or not (nothing was changed), unknown.
        reply: the number that it was told.
        after: the highest number of this ledger that anybody had been told when it was first sent.
        heard: its client knows, or has given up.
    """

    number: int
    id: str
    keyed: bool
    avoids: str = ""
    attempts: list[str] = field(default_factory=list)
    fate: str = "waiting"
    doubtful: bool = False
    reply: int = 0
    after: int = 0
    heard: trio.Event = field(default_factory=trio.Event)

    @property
    def key(self) -> bytes:
        """The key of its receipt."""
        return sha256(f"deposit {self.number}".encode()).digest()

    @property
    def may_repeat(self) -> bool:
        """Whether its client tries once more."""
        return (self.fate in ("refused", "not") or (self.fate == "unknown" and self.keyed)) and len(
            self.attempts
        ) < TRIES_MAX

    def receipt(self, reply: int) -> Receipt:
        """The receipt that commits with it."""
        return Receipt(self.key, self.key + b"m" * 16, 200, b"%d" % reply, START_MS + 86_400_000)


class Watcher:
    """A client that watches a ledger, and comes back where it was.

    Args:
        user_id: whose client it is.
        id: of the ledger.
        mode: as in `WatchRequest`.
        wrong: where it complains.
    """

    def __init__(self, user_id: str, id: str, mode: Literal["delta", "snapshot"], wrong: list[str]) -> None:
        self.user_id = user_id
        self.id = id
        self.mode: Literal["delta", "snapshot"] = mode
        self.node: ClusterNode | None = None
        self.subscription: Subscription | None = None
        self.seen: dict[str, Any] | None = None
        self.offset = -1
        self.snapshots = 0
        self._epoch = ""
        self._socket = Socket()
        self._read = 0
        self._wrong = wrong

    @property
    def name(self) -> str:
        """Who it is, for people."""
        return f"{self.user_id} at {self.id} ({self.mode})"

    @property
    def is_watching(self) -> bool:
        """Whether frames come."""
        node = self.node
        return self.subscription is not None and node is not None and node.serves and not self._socket.ended

    def request(self, rng: Random) -> WatchRequest:
        """Come back: mostly from where it is, on a new socket."""
        self.catch_up()
        since = (self._epoch, self.offset) if self.seen is not None and rng.random() < 0.8 else None
        self._socket, self._read = Socket(), 0
        return WatchRequest(
            sink=self._socket,
            viewer=Viewer(self.user_id),
            channel=self.id,
            envelope=ENVELOPE,
            mode=self.mode,
            opened=self._opened,
            since=since,
        )

    def cut(self) -> None:
        """Its connection is gone."""
        if self.subscription is not None:
            self.subscription.close()
            self.subscription = None

    def stall(self, sends: int | None) -> None:
        """Read no more than so many sends from now on; None to read everything again."""
        self._socket.make_room(sends)

    def catch_up(self) -> None:
        """Take in what has arrived."""
        while self._read < len(self._socket.sends):
            prepared = self._socket.sends[self._read]
            self._read += 1
            for payload in prepared.payloads:
                self._take(msgspec.json.decode(payload))

    def _opened(self, epoch: str, offset: int, recovered: bool) -> None:
        if recovered and (epoch != self._epoch or self.offset > offset):
            self._wrong.append(f"{self.name} is at {self.offset}, and is said to go on at {offset}")

    def _take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "snapshot":
            if frame["epoch"] == self._epoch and frame["offset"] < self.offset:
                self._wrong.append(f"{self.name} is sent back from {self.offset} to {frame['offset']}")
            self.seen, self._epoch, self.offset = frame["data"], frame["epoch"], frame["offset"]
            self.snapshots += 1
            return
        if frame["offset"] is None:
            return
        if self.seen is None or frame["epoch"] != self._epoch or frame["offset"] != self.offset + 1:
            self._wrong.append(f"{self.name} is at {self.offset}, and is told of {frame['offset']}")
            return
        self.seen, self.offset = fold(self.seen, frame), frame["offset"]
