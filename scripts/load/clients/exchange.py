"""What parent and workers say to each other: one JSON object a line, over the worker's pipes."""

from collections.abc import Sequence

import msgspec

from scripts.load.plan import Plan

Buckets = list[tuple[int, int]]

EXAMPLES = 5
"""Lines for a human, of all that is wrong."""


class Open(msgspec.Struct, frozen=True, tag=True):
    """Open your sockets and subscribe.

    Args:
        plan: the whole run.
        worker: which of the workers this is, from 0.
        tokens: of this worker's users, {user: token}.
        conversations: the ids, by conversation number; or the agents, each as it is made by `stage.prepare`.
    """

    plan: Plan
    worker: int
    tokens: dict[int, str]
    conversations: list[str]


class Start(msgspec.Struct, frozen=True, tag=True):
    """Begin to send."""


class Mark(msgspec.Struct, frozen=True, tag=True):
    """Tell what happened since the last mark; answered with a `Tally`."""


class Stop(msgspec.Struct, frozen=True, tag=True):
    """Send no more, wait for what is in flight; answered with `Stopped`."""


class Settle(msgspec.Struct, frozen=True, tag=True):
    """Wait until every subscription has had all of it; answered with a `Verdict`.

    Args:
        least, most: messages of each conversation: acknowledged, and with those of unknown outcome.
    """

    least: list[int]
    most: list[int]


Order = Open | Start | Mark | Stop | Settle


class Opened(msgspec.Struct, frozen=True, tag=True):
    """All sockets are open."""

    sockets: int
    seconds: float


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The worker cannot go on."""

    why: str


class Done(msgspec.Struct, frozen=True, tag=True):
    """The order has been carried out."""


class Tally(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """What happened since the last mark.

    Args:
        acknowledged: messages (or requests) answered with success.
        delivered: messages that arrived at a subscribed socket.
        skipped: events that a snapshot stood for, because the socket was slow.
        received_bytes: payload bytes of deliveries, or bodies of responses.
        unsent: messages that the open loop could not send: too many were in flight, or the sender's socket was lost.
        in_flight: messages sent and not answered, now.
        open_sockets: now.
        reconnects: sockets that were lost and are open again.
        errors: how often which code.
        acknowledgement, delivery: latencies, from the moment the message was due.
        last: those of each message's last delivery, among the subscriptions of one worker.
    """

    acknowledged: int = 0
    delivered: int = 0
    skipped: int = 0
    received_bytes: int = 0
    unsent: int = 0
    in_flight: int = 0
    open_sockets: int = 0
    reconnects: int = 0
    errors: dict[str, int] = {}
    acknowledgement: Buckets = []
    delivery: Buckets = []
    last: Buckets = []


class Stopped(msgspec.Struct, frozen=True, tag=True):
    """Messages of each conversation since the start, warm-up included.

    Args:
        acknowledged: those that the server said were kept.
        unknown: those without an answer, or with one that leaves the outcome open.
    """

    acknowledged: list[int]
    unknown: list[int]


class Verdict(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Whether each subscription had each message once and in order.

    Args:
        subscriptions: how many were checked.
        expected: messages they had to get, in all.
        missing, repeated, disordered: messages; `disordered` also counts gaps between offsets.
        skipped: messages that a snapshot stood for.
        examples: a few lines for a human.
    """

    subscriptions: int = 0
    expected: int = 0
    missing: int = 0
    repeated: int = 0
    disordered: int = 0
    skipped: int = 0
    examples: list[str] = []

    @property
    def exact(self) -> bool:
        """Nothing missing, nothing twice, nothing out of order."""
        return not (self.missing or self.repeated or self.disordered)

    @classmethod
    def of_all(cls, parts: Sequence["Verdict"]) -> "Verdict":
        """What several verdicts say together."""
        return cls(
            subscriptions=sum(one.subscriptions for one in parts),
            expected=sum(one.expected for one in parts),
            missing=sum(one.missing for one in parts),
            repeated=sum(one.repeated for one in parts),
            disordered=sum(one.disordered for one in parts),
            skipped=sum(one.skipped for one in parts),
            examples=[line for one in parts for line in one.examples][:EXAMPLES],
        )


Answer = Opened | Failed | Done | Tally | Stopped | Verdict
