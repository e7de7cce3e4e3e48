"""One turn: the letters of an actor, decided one after the other on a scratch state.

Invariants: the committed state is not touched here; a letter that is refused, or whose rules raise, leaves no trace
in the scratch state, the events or the receipts; no caller is answered before the outcome of the whole turn is known;
no letter is decided on rows that its own turn has changed.

What a letter needs beside the state is read from committed rows, while what the letters before it have decided is
committed with the turn, later. So a letter whose rows an event of its turn may change ends that turn (`is_cut`): it
goes into the next one, whose reads see the commit. Letters that need nothing, or nothing that was changed, share a
turn; and since the first letter of a turn has no event before it, each turn decides at least one. What was read
serves one letter and is dropped with it, because it may not be true any more for the next.
"""

from collections.abc import Callable, Hashable
from typing import Any

import msgspec

from actors.errors import Overloaded, Refused
from actors.kernel.facets import Lookups
from actors.kernel.kind import Event, Kind
from actors.kernel.mailbox import Answer, Failure, Letter
from actors.kernel.supervisor import Fault, attempt
from persistence.journal.turn import Receipt, Turn

# Most letters decided in one turn; the rest goes into the next, so that no turn holds up the writer's batch. They are
# fewer where they take long (`activation.py`).
TURN_LETTERS = 64


_encode = msgspec.msgpack.Encoder().encode


class TurnDraft:
    """What one turn would change, before it is committed.

    Args:
        kind, id: the owner's kind and id.
        state: the committed state to start from.
        seq: the journal position of that state.
        version: how many turns are in that state.
        now_ms: the time of the whole turn, epoch milliseconds.
        begun_at_ms: when it begins by this node's clock, to which the deadlines of its letters belong; behind `now_ms`
            where the node of the turn before has a clock that is ahead.
    """

    __slots__ = (
        "answers", "begun_at_ms", "commit_number", "due_ms", "events", "id", "is_cut", "is_durable", "journal", "kind",
        "needs", "now_ms", "receipts", "seq", "state", "version",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind[Any, Any],
        id: str,
        state: Any,
        *,
        seq: int,
        version: int,
        now_ms: int,
        begun_at_ms: int,
    ) -> None:
        self.kind = kind
        self.id = id
        self.state = state
        self.seq = seq
        self.version = version
        self.now_ms = now_ms
        self.begun_at_ms = begun_at_ms
        # its number among the turns that went to the writer, as `counters.commits` counts; 0 before it does
        self.commit_number = 0
        # (offset or None, event), in order
        self.events: list[tuple[int | None, Event]] = []
        self.journal: list[bytes] = []
        self.receipts: list[Receipt] = []
        self.answers: list[tuple[Letter, Answer]] = []
        # what has to be read before the letter under consideration can be decided, or None
        self.needs: Hashable | None = None
        # those rows may be changed by this turn, so the letter belongs into the next one
        self.is_cut = False
        # known once `turn` was called: the deadline of the scratch state, and whether there was anything to commit
        self.due_ms: int | None = None
        self.is_durable = False

    def consider(self, letter: Letter) -> None:
        """Decide one letter on the scratch state, unless rows have to be read for it: then `needs` is set, and
        `is_cut` when they cannot be read before this turn is committed."""
        if not letter.open:
            return
        if letter.deadline_ms < self.begun_at_ms:
            self.refuse(letter, Overloaded())
        elif attempt("deciding a command", self.kind.name, self.id, self._consider, letter) is not None:
            self.refuse(letter, Fault())

    def resume(self, lookups: Lookups[Any, Any], letter: Letter, found: Any) -> None:
        """Decide the letter for which something was read.

        Args:
            lookups: the lookups of the owner's kind.
            letter: the letter that `consider` was called with before.
            found: what the kind's `fetch` returned.
        """
        self.needs = None
        if not letter.open:  # its caller left meanwhile
            return
        if (
            attempt("deciding a command", self.kind.name, self.id, self._absorb, lookups, letter, found)
            is not None
        ):
            self.refuse(letter, Fault())

    def refuse(self, letter: Letter, failure: Failure) -> None:
        """Answer a letter with a failure when the turn is over; it changes nothing."""
        self.needs = None
        self.answers.append((letter, Answer(None, failure)))

    def _consider(self, letter: Letter) -> None:
        lookups = self.kind.lookups
        needs = None if lookups is None else lookups.missing(self.state, letter.command)
        if lookups is None or needs is None:
            self._decide(letter, self.state)
        else:
            self.is_cut = self._changes(lookups.overlaps, needs)
            self.needs = needs

    def _changes(self, overlaps: Callable[[Any, Any], bool] | None, needs: Hashable) -> bool:
        """Whether an event of this turn may change rows that are needed."""
        return any(event.durable and (overlaps is None or overlaps(event, needs)) for _, event in self.events)

    def _absorb(self, lookups: Lookups[Any, Any], letter: Letter, found: Any) -> None:
        self._decide(letter, lookups.absorb(self.state, found))
        self.state = lookups.forget(self.state)

    def _decide(self, letter: Letter, state: Any) -> None:
        """All or nothing: the draft is changed only after every rule has returned."""
        kind = self.kind
        try:
            events = kind.decide(state, letter.command, self.now_ms)
            encoded = [_encode(event.note()) for event in events if event.journaled]
            for event in events:
                state = kind.apply(state, event)
            reply = kind.answer(state, letter.command, events)
            receipt = letter.receipt(reply) if letter.receipt is not None else None
        except Refused as refused:
            # Its traceback knows this draft, which keeps it in an answer, and tells nobody anything.
            self.refuse(letter, refused.with_traceback(None))
            return
        if receipt is not None:
            self.receipts.append(receipt)
        letter.decided = True
        self.state = state
        self.answers.append((letter, Answer(reply, None)))
        offset = self.seq + len(self.journal)
        for event in events:
            offset += event.journaled
            self.events.append((offset if event.journaled else None, event))
        self.journal += encoded

    def turn(self, shard: int, fence: int, *, even_if_empty: bool = False) -> Turn | None:
        """Return what the writer must commit, or None when nothing of this turn is durable.

        Args:
            shard, fence: the lease under which the turn was decided.
            even_if_empty: the head's deadline must be written even if nothing else is.
        """
        kind = self.kind
        durable = tuple([event for _, event in self.events if event.durable])
        self.due_ms = kind.due(self.state)
        self.is_durable = bool(durable or self.receipts or even_if_empty)
        if not self.is_durable:
            return None
        return Turn(
            kind=kind.name,
            id=self.id,
            shard=shard,
            fence=fence,
            seq=self.seq,
            version=self.version,
            at_ms=self.now_ms,
            events=durable,
            journal=tuple(self.journal),
            due_at_ms=self.due_ms,
            summary=b"" if kind.summary is None else kind.summary(self.state),
            persist=kind.persist,
            receipts=tuple(self.receipts),
            plan=kind.plan,
        )

    def tell(self) -> None:
        """Answer every caller with its own reply or refusal."""
        for letter, answer in self.answers:
            letter.reply(answer)

    def end(self) -> None:
        """Tell every caller that the turn's frames are out."""
        for letter, _ in self.answers:
            letter.end()

    def fail(self, failure: Failure) -> None:
        """Answer every caller with the failure of the turn, refused ones too: a refusal rests on the turn's state."""
        for letter, _ in self.answers:
            letter.close(Answer(None, failure))
