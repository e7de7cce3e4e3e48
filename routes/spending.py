"""Tells all other nodes four times a second what callers have spent of their rate limits here, and hears of theirs.

Each node tells of what it has let through itself, and of nothing else. It tells once, and only nodes that take messages
at that moment; what arrives late counts for less. So errors are always on the side of letting requests through.
"""

import msgspec
import trio

from actors.kernel.clock import Clock
from actors.kernel.nodes.peers import Peers
from routes.edge.limits import Limits
from routes.edge.spending import Spending, Spent
from routes.rates import POLICIES

TOPIC = "spent"

TELL_SECONDS = 0.25

TOLD_AT_ONCE = 2_000
"""Most buckets in one message: 0.2 MB."""

MESSAGES = 5
"""Most messages in one round; what is due beyond them is told in the next."""


class _Told(msgspec.Struct, frozen=True, array_like=True):
    at_ms: int
    spent: list[Spent]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Told).decode


class SharedRates:
    """Shares the spending of this node's rate limits with the other nodes.

    Args:
        limits: the rate limits of this node.
        peers: the other nodes.
        clock: the time that the rules go by.
    """

    def __init__(self, limits: Limits, peers: Peers, clock: Clock) -> None:
        self._limits = limits
        self._peers = peers
        self._clock = clock
        self._spending = limits.spending = Spending()
        peers.hear_topic(TOPIC, self._hear)

    async def keep(self) -> None:
        """Tell the others until cancelled. Cancellation leaves untold what is due."""
        while True:
            await trio.sleep(TELL_SECONDS)
            self.tell()

    def tell(self) -> None:
        """Tell all other nodes what is due."""
        for _ in range(MESSAGES):
            spent = self._spending.pop(TOLD_AT_ONCE)
            if not spent:
                return
            body = _encode(_Told(self._clock.now_ms(), spent))
            for node in self._peers.names:
                self._peers.offer(node, TOPIC, body)

    def _hear(self, _node: str, body: bytes) -> None:
        told = _decode(body)
        now_ms = self._clock.now_ms()
        for spent in told.spent:
            policy = POLICIES.get(spent.policy)  # None: only the other's release has it
            # What was spent longer ago than a window has been refilled since.
            if policy is not None and now_ms - told.at_ms < policy.window_seconds * 1000:
                self._limits.owe(policy, spent, now_ms)
