"""What parent and workers say to each other: one JSON object a line, over the worker's pipes."""

from collections.abc import Sequence

import msgspec

from scripts.load.plan import Plan

Buckets = list[tuple[int, int]]

EXAMPLES = 5
"""Most lines for a human about what is wrong."""


class Open(msgspec.Struct, frozen=True, tag=True):
    """Open your sockets and subscribe.

    Args:
        plan: the whole run.
        worker: which of the workers this is, from 0.
        tokens: access tokens of this worker's users, {number of the user: token}.
        conversations: the conversations' ids, by number; or the agents, each in the form of `stage.prepare`.
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
    """Wait until every subscription has had all messages; answered with a `Verdict`.

    Args:
        least: how many messages of each conversation were acknowledged.
        most: the same, with those of unknown outcome.
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
        in_flight: messages that are sent and not answered, at this moment.
        open_sockets: sockets that are open at this moment.
        reconnects: sockets that were lost and are open again.
        errors: {code of an error: how often}.
        acknowledgement, delivery: latencies, from the moment the message was due.
        last: latencies of each message's last delivery, among the subscriptions of one worker.
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
        acknowledged: messages that the server has acknowledged.
        unknown: messages without an answer, or with one that leaves the outcome open.
    """

    acknowledged: list[int]
    unknown: list[int]


class Verdict(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """Whether each subscription had each message once and in order.

    Args:
        subscriptions: how many were checked.
        expected: messages that they had to get in all.
        missing, repeated, disordered: messages that did not come, came twice, or came in another order; `disordered`
            also counts gaps between offsets.
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
        """Whether nothing is missing, nothing came twice, and nothing out of order."""
        return not (self.missing or self.repeated or self.disordered)

    @classmethod
    def of_all(cls, parts: Sequence["Verdict"]) -> "Verdict":
        """Several verdicts as one."""
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
