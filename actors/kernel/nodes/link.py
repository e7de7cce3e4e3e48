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
        self._kept: dict[int, Piece] = {}  # by number without a gap, those that are not acknowledged
        self._floor = 1  # number of the first of them; of the next one while there are none
        self._next_kept = 1
        self._unsent = 1  # number of the first that was never sent
        self._going = 1  # number of the next to be sent: a lower one while some are sent again
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
        size = len(body)
        if size > ENTRY_BYTES:
            raise ValueError(f"an entry of {size} bytes")
        if self._bytes + size > LINK_BYTES:
            self._give_up()
            raise LinkFull
        if size <= PIECE_BYTES:
            self._keep(Piece(body, True, True, True), size)
            return self._next_kept
        for start in range(0, size, PIECE_BYTES):
            part = body[start : start + PIECE_BYTES]
            self._keep(Piece(part, True, start == 0, start + PIECE_BYTES >= size), len(part))
        return self._next_kept

    def _keep(self, piece: Piece, size: int) -> None:
        self._kept[self._next_kept] = piece
        self._next_kept += 1
        self._bytes += size + PIECE_COST_BYTES

    def is_acknowledged(self, number: int) -> bool:
        """Whether the entry with the number that `send` returned, and all before it, have arrived or were lost."""
        return self._floor >= number

    def wants_to_send(self, now: float) -> bool:
        """Whether `take` has something to send at `now`, monotonic seconds."""
        if self._floor < self._unsent:
            patient_until = max(self._progress_at, self._repeated_at) + PATIENCE_SECONDS
            if now >= patient_until:
                self._repeat(now)
        return self._going < self._next_kept or self._owes or now - self._sent_at >= BEAT_SECONDS

    def take(self, now: float) -> Batch:
        """Make the next batch, at `now` in monotonic seconds. An empty one says only that this node lives, and what
        it has heard."""
        first_kept = number = self._going
        pieces: list[Piece] = []
        room = BATCH_BYTES
        while number < self._next_kept:
            piece = self._kept[number]
            room -= len(piece.body) + PIECE_COST_BYTES
            if room < 0:
                break
            pieces.append(piece)
            number += 1
        self._going = number
        if number > self._unsent:
            if self._floor == self._unsent:
                self._progress_at = now
            self._unsent = number
        self._number += 1
        self._sent_at = now
        batch = Batch(
            self._own.node,
            self._own.number,
            self.peer.number,
            self._number,
            self._expected_kept - 1,
            self._misses,
            self._floor,
            first_kept,
            tuple(pieces),
        )
        self._owes = self._misses = False
        return batch

    def _repeat(self, now: float) -> None:
        """Send again what was sent and is not acknowledged."""
        if self._floor < self._unsent:
            self._repeated_at = now
            self._going = self._floor

    def _give_up(self) -> None:
        self._bytes = 0
        self._kept.clear()
        # The refused entry takes a number as well: where all that was sent has arrived and is not acknowledged yet, the
        # receiver misses nothing but that one.
        self._next_kept += 1
        self._floor = self._unsent = self._going = self._next_kept

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
        number = batch.first_kept
        if number > self._expected_kept:
            self._misses = self._owes = True
        for piece in batch.pieces:
            self._owes = True
            if number == self._expected_kept:
                self._expected_kept += 1
                if piece.first and piece.last:
                    heard.append(piece.body)
                else:
                    self._add(piece, heard)
            number += 1
        return heard

    def _add(self, piece: Piece, heard: list[Heard]) -> None:
        if not (self._parts or piece.first):
            return  # of an entry whose beginning was lost
        self._parts.append(piece.body)
        if piece.last:
            heard.append(b"".join(self._parts))
            self._parts = []

    def _hear_acknowledged(self, batch: Batch, now: float) -> None:
        upto = min(batch.acknowledged + 1, self._unsent)
        if upto > self._floor:
            self._progress_at = now
            for number in range(self._floor, upto):
                self._bytes -= len(self._kept.pop(number).body) + PIECE_COST_BYTES
            self._floor = upto
            self._going = max(self._going, upto)
        if batch.again and now - self._repeated_at >= AGAIN_SECONDS:
            self._repeat(now)
