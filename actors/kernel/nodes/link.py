"""A link: all that this node sends to one other, and hears from it. It has neither a bus nor a clock of its own.

The bus may lose messages, and gives no sign of it. So batches are numbered, and whoever sees a gap knows. Entries are
sent in numbered pieces, which stay with the sender until they are acknowledged, and are sent again where one is
missing: every entry arrives once and in order.

    the sender has                      it sends
    something to say                    a batch, as soon as the bus takes it
    heard that pieces are missing       those again, before anything else
    pieces that nobody acknowledges for `PATIENCE_SECONDS`   the same
    heard a piece                       an acknowledgement, in whatever goes there next
    been silent for `BEAT_SECONDS`      an empty batch

Everything is bounded: a link that is full refuses an entry (`LinkFull`), and gives up all that waits in it, of which
the receiver is told (`LOST`) so that it can begin anew.
"""

from collections import deque
from collections.abc import Iterator
from enum import Enum
from itertools import count
from typing import NamedTuple, TypeAlias

from actors.kernel.nodes.batch import Batch, Piece

BATCH_BYTES = 512 * 1024
"""Most bytes of the pieces in one batch; a bus takes messages up to a megabyte."""

PIECE_BYTES = 128 * 1024
"""A larger entry is sent in parts of this size."""

LINK_BYTES = 8 * 1024 * 1024
"""Most bytes that wait in one link: pieces that are not sent, or not acknowledged."""

ENTRY_BYTES = LINK_BYTES // 4
"""Size of the largest entry that a link takes."""

PIECE_COST_BYTES = 64
"""Added to the size of each piece when a link is measured, so that many small pieces are bounded too."""

BEAT_SECONDS = 0.5
"""The longest silence of a node that lives."""

PATIENCE_SECONDS = 1.0
"""Pieces that were not acknowledged for so long are sent again: two beats of the other node."""

AGAIN_SECONDS = 0.1
"""How long after pieces were sent again a request for them has no effect, because they are on their way."""

BELIEVED_SECONDS = 2.0
"""A node that was silent for so long is not believed any more: four beats."""


class Trouble(Enum):
    """What can have gone wrong before an entry, as the receiver is told."""

    GAP = "batches were lost, whose entries come again"
    LOST = "the sender has given up entries that this node has not received"


Heard: TypeAlias = bytes | Trouble
"""An entry, or what happened before the next one."""


class LinkFull(Exception):
    """The other node does not take what it is sent; all that waited was given up, and nothing was added."""


NUMBERS_BITS = 32
"""Bits for the numbers of what a node asks in one life; the bits above them hold the number of the life."""


class Life(NamedTuple):
    """A node in one of its lives.

    Args:
        node: the node's name.
        number: rises with each life of any node; below 2^31, so that the numbers of what it asks have 63 bits.
    """

    node: str
    number: int

    @property
    def first_number(self) -> int:
        """The first number of what this life asks or tells; those of its former lives are all lower."""
        return (self.number << NUMBERS_BITS) + 1

    def numbers(self) -> Iterator[int]:
        """Numbers for what this life asks, which no other life of the node uses: an answer meant for a former one may
        come late, and is nobody's."""
        return count(self.first_number)


class Link:
    """Both directions between one life of this node and one life of another.

    Args:
        own: this node and its life.
        peer: the other node and its life.
        now: the present time in monotonic seconds.
    """

    def __init__(self, own: Life, peer: Life, now: float) -> None:
        self.peer = peer
        self._own = own
        # what goes out
        self._waiting: deque[Piece] = deque()
        self._kept: dict[int, Piece] = {}  # by number, those that are not acknowledged
        self._next_kept = 1
        self._kept_sent = 1  # number of the first that was never sent
        self._again_from: int | None = None
        self._number = 0
        self._bytes = 0
        self._sent_at = self._progress_at = now
        self._repeated_at = now - AGAIN_SECONDS
        # what comes in
        self._received = 0
        self._expected_kept = 1
        self._parts: list[bytes] = []  # of an entry that is under way
        self._misses = self._owes = False
        self._heard_at: float | None = None

    @property
    def waiting_bytes(self) -> int:
        """How many bytes wait to be sent, or to be acknowledged."""
        return self._bytes

    @property
    def floor(self) -> int:
        """The number of the oldest piece that is not acknowledged; without any, of the piece that is added next."""
        return next(iter(self._kept), self._next_kept)

    def is_heard(self, now: float, within: float = BELIEVED_SECONDS) -> bool:
        """Whether the other node was heard lately.

        Args:
            now: the present time in monotonic seconds.
            within: how many seconds ago that may be at most.
        """
        return self._heard_at is not None and now - self._heard_at <= within

    def excuse(self, seconds: float, now: float) -> None:
        """Count no silence of the other node for a time in which this one could not listen.

        Args:
            seconds: how long that was.
            now: the present time in monotonic seconds.
        """
        if self._heard_at is not None:
            self._heard_at = min(self._heard_at + seconds, now)

    # -- what goes out ------------------------------------------------------------------------------

    def send(self, body: bytes) -> int:
        """Have an entry sent, in order; returns the number that acknowledges it (`is_acknowledged`).

        Args:
            body: the encoded entry, at most `ENTRY_BYTES` long.

        Raises:
            LinkFull: too much waits. All that waits is given up with it, so that the receiver is told of the loss and
                begins anew, even if it has received all before this one.
            ValueError: the entry is too large for any link; a defect.
        """
        if len(body) > ENTRY_BYTES:
            raise ValueError(f"an entry of {len(body)} bytes")
        if self._bytes + len(body) > LINK_BYTES:
            self._give_up()
            raise LinkFull
        for start in range(0, len(body) or 1, PIECE_BYTES):
            part = body[start : start + PIECE_BYTES]
            piece = Piece(part, True, start == 0, start + PIECE_BYTES >= len(body))
            self._waiting.append(piece)
            self._kept[self._next_kept] = piece
            self._next_kept += 1
            self._bytes += _cost(piece)
        return self._next_kept

    def is_acknowledged(self, number: int) -> bool:
        """Whether the entry with the number that `send` returned, and all before it, have arrived or were lost."""
        return self.floor >= number

    def wants_to_send(self, now: float) -> bool:
        """Whether `take` has something to send at `now`, monotonic seconds."""
        patient_until = max(self._progress_at, self._repeated_at) + PATIENCE_SECONDS
        if self.floor < self._kept_sent and now >= patient_until:
            self._repeat(now)
        return bool(
            self._waiting or self._again_from is not None or self._owes or now - self._sent_at >= BEAT_SECONDS
        )

    def take(self, now: float) -> Batch:
        """Make the next batch, at `now` in monotonic seconds. An empty one says only that this node lives, and what
        it has heard."""
        first_kept = self._kept_sent if self._again_from is None else self._again_from
        pieces = self._take_again()
        room = BATCH_BYTES - sum(map(_cost, pieces))
        while self._again_from is None and self._waiting and room >= _cost(self._waiting[0]):
            piece = self._waiting.popleft()
            room -= _cost(piece)
            if self.floor == self._kept_sent:
                self._progress_at = now
            self._kept_sent += 1
            pieces.append(piece)
        self._number += 1
        self._sent_at = now
        batch = Batch(
            self._own.node,
            self._own.number,
            self.peer.number,
            self._number,
            self._expected_kept - 1,
            self._misses,
            self.floor,
            first_kept,
            tuple(pieces),
        )
        self._owes = self._misses = False
        return batch

    def _take_again(self) -> list[Piece]:
        pieces: list[Piece] = []
        room = BATCH_BYTES
        while self._again_from is not None:
            piece = self._kept[self._again_from]
            if room < _cost(piece):
                break
            room -= _cost(piece)
            pieces.append(piece)
            self._again_from += 1
            if self._again_from >= self._kept_sent:
                self._again_from = None
        return pieces

    def _repeat(self, now: float) -> None:
        """Send again what was sent and is not acknowledged."""
        if self.floor < self._kept_sent:
            self._repeated_at = now
            self._again_from = self.floor

    def _give_up(self) -> None:
        self._bytes = 0
        self._kept.clear()
        self._waiting.clear()
        # The refused entry takes a number as well: where all that was sent has arrived and is not acknowledged yet, the
        # receiver misses nothing but that one.
        self._next_kept += 1
        self._kept_sent = self._next_kept
        self._again_from = None

    # -- what comes in ------------------------------------------------------------------------------

    def receive(self, batch: Batch, now: float) -> list[Heard]:
        """Take in a batch of the other node; returns what it says, in order.

        Nothing is taken from a batch for or from another life, or one that a later batch has overtaken.

        Args:
            batch: a batch whose seal was right.
            now: the present time in monotonic seconds.
        """
        if (batch.life, batch.to_life) != (self.peer.number, self._own.number):
            return []
        self._heard_at = now
        if batch.number <= self._received:
            return []
        heard: list[Heard] = []
        if batch.number != self._received + 1:
            heard.append(Trouble.GAP)
        self._received = batch.number
        if batch.floor > self._expected_kept:
            heard.append(Trouble.LOST)
            self._expected_kept = batch.floor
            self._parts = []
        self._hear_acknowledged(batch, now)
        if batch.first_kept > self._expected_kept:
            self._misses = self._owes = True
        for number, piece in enumerate(batch.pieces, batch.first_kept):
            self._owes = True
            if number == self._expected_kept:
                self._expected_kept += 1
                self._add(piece, heard)
        return heard

    def _add(self, piece: Piece, heard: list[Heard]) -> None:
        if not (self._parts or piece.first):
            return  # of an entry whose beginning was lost
        self._parts.append(piece.body)
        if piece.last:
            heard.append(b"".join(self._parts))
            self._parts = []

    def _hear_acknowledged(self, batch: Batch, now: float) -> None:
        floor = self.floor
        for number in range(floor, batch.acknowledged + 1):
            piece = self._kept.pop(number, None)
            if piece is not None:
                self._bytes -= _cost(piece)
        if self.floor > floor:
            self._progress_at = now
        if self._again_from is not None and self._again_from < self.floor:
            self._again_from = self.floor if self.floor < self._kept_sent else None
        if batch.again and now - self._repeated_at >= AGAIN_SECONDS:
            self._repeat(now)


def _cost(piece: Piece) -> int:
    return len(piece.body) + PIECE_COST_BYTES
