"""One turn: the letters of an actor, decided one after the other on a scratch state.

Invariants: the committed state is not touched here; a letter that is refused, or whose rules raise, leaves no
trace in the scratch state, the events or the receipts; nobody is answered before the outcome of the whole
turn is known.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from actors.errors import Overloaded, Refused
from actors.kernel.kind import Event, Kind
from actors.kernel.mailbox import Answer, Failure, Letter
from actors.kernel.store import Store
from actors.kernel.supervisor import Contained, Fault
from persistence.errors import PersistenceError
from persistence.turn import Receipt, Turn

# Letters decided in one turn. What waits longer goes into the next, so that no turn holds up the writer's
# batch.
TURN_LETTERS = 64


class Draft:
    """What one turn would change.

    Args:
        kind, id: whose turn it is.
        state: the committed state to start from.
        seq: the journal position of that state.
        now_ms: the time of the whole turn.
    """

    __slots__ = ("answers", "events", "id", "journal", "kind", "now_ms", "receipts", "seq", "state")

    def __init__(self, kind: Kind[Any, Any], id: str, state: Any, *, seq: int, now_ms: int) -> None:
        self.kind = kind
        self.id = id
        self.state = state
        self.seq = seq
        self.now_ms = now_ms
        # (offset or None, event), in order
        self.events: list[tuple[int | None, Event]] = []
        self.journal: list[bytes] = []
        self.receipts: list[Receipt] = []
        self.answers: list[tuple[Letter, Answer]] = []

    async def consider(self, letter: Letter, store: Store) -> None:
        """Decide one letter on the scratch state, after reading what it needs. Only that reading waits."""
        if not letter.open:
            return
        if letter.deadline_ms < self.now_ms:
            self.answers.append((letter, Answer(None, Overloaded())))
            return
        with Contained("deciding a command", self.kind.name, self.id) as rules:
            try:
                state = self.state
                missing = self.kind.missing(state, letter.command)
                if missing is not None:
                    state = self.kind.absorb(state, await store.read(self.kind.fetch, self.id, missing))
                self._decide(letter, state)
            except (Refused, PersistenceError) as failure:
                self.answers.append((letter, Answer(None, failure)))
        if rules.fault is not None:
            self.answers.append((letter, Answer(None, Fault())))

    def _decide(self, letter: Letter, state: Any) -> None:
        """All or nothing: the draft is changed only after every rule has returned."""
        if not letter.open:  # its caller left while something was read for it
            return
        kind = self.kind
        events = kind.decide(state, letter.command, self.now_ms)
        encoded = [msgspec.msgpack.encode(event) for event in events if event.journaled]
        for event in events:
            state = kind.apply(state, event)
        reply = kind.answer(state, letter.command, events)
        if letter.receipt is not None:
            self.receipts.append(letter.receipt(reply))
        letter.decided = True
        self.state = state
        self.answers.append((letter, Answer(reply, None)))
        self._place(events)
        self.journal += encoded

    def _place(self, events: Sequence[Event]) -> None:
        offset = self.seq + len(self.journal)
        for event in events:
            if event.journaled:
                offset += 1
                self.events.append((offset, event))
            else:
                self.events.append((None, event))

    def turn(self, shard: int, fence: int, *, even_if_empty: bool = False) -> Turn | None:
        """What the writer must commit, or None when nothing of this turn is durable.

        Args:
            shard, fence: the lease under which it was decided.
            even_if_empty: the head's deadline must be written even if nothing else is.
        """
        durable = tuple(event for _, event in self.events if event.durable)
        if not (durable or self.receipts or even_if_empty):
            return None
        kind = self.kind
        return Turn(
            kind=kind.name,
            id=self.id,
            shard=shard,
            fence=fence,
            seq=self.seq,
            at_ms=self.now_ms,
            events=durable,
            journal=tuple(self.journal),
            due_at_ms=kind.due(self.state),
            summary=kind.summary(self.state),
            persist=kind.persist,
            receipts=tuple(self.receipts),
        )

    def tell(self) -> None:
        """Answer every caller as decided."""
        for letter, answer in self.answers:
            letter.reply(answer)

    def fail(self, failure: Failure) -> None:
        """Answer every caller with the failure of the whole turn; also who was refused, on a void state."""
        for letter, _ in self.answers:
            letter.reply(Answer(None, failure))
