"""Where commands wait for their actor: a bounded queue and the one task that empties it.

Invariants: a full mailbox refuses at once and never makes anybody wait; a letter that its caller has left, or
whose deadline has passed, is never decided; what is told (not asked) is never refused, because equal commands
are one.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple, TypeAlias

import trio

from actors.errors import Refused
from actors.kernel.supervisor import Contained, Fault
from persistence.errors import PersistenceError
from persistence.turn import Receipt

# Commands that may wait for one actor. At four turns of 64 it is what an actor works off in a few commits; a
# caller behind more than that is better told at once (reliability rule "bounded everything").
MAILBOX_LETTERS = 256

# A deadline for what has none: beyond every clock.
NEVER_MS = 1 << 62

Failure: TypeAlias = Refused | PersistenceError | Fault


class Answer(NamedTuple):
    """What a caller is told: the reply, or why there is none.

    Args:
        reply: what the kind's `answer` returned; None beside an error.
        error: a refusal, a failure of the database, or a fault of ours; None when it went well.
    """

    reply: Any
    error: Failure | None


class Letter:
    """A command on its way through one turn.

    Args:
        command: what to decide.
        answer: told the outcome, once, synchronously; None when nobody asks.
        receipt: makes the receipt of an idempotent request from the reply; commits with the events.
        deadline_ms: epoch milliseconds at which the caller stops waiting.
    """

    __slots__ = ("answer", "command", "deadline_ms", "decided", "open", "receipt")

    def __init__(
        self,
        command: Any,
        answer: Callable[[Answer], None] | None,
        receipt: Callable[[Any], Receipt] | None,
        deadline_ms: int,
    ) -> None:
        self.command = command
        self.answer = answer
        self.receipt = receipt
        self.deadline_ms = deadline_ms
        self.decided = False
        self.open = True

    def reply(self, answer: Answer) -> None:
        """Tell the caller, unless it has left or been told. A caller's own fault stays the caller's."""
        if not self.open:
            return
        self.open = False
        if self.answer is not None:
            with Contained("answering a caller"):
                self.answer(answer)


class Mailbox:
    """The letters of one actor, and its task while there are none."""

    __slots__ = ("_asked", "_letters", "_sleeper", "_told")

    def __init__(self) -> None:
        self._letters: deque[Letter] = deque()
        self._told: set[Hashable] = set()
        self._asked = 0
        self._sleeper: trio.lowlevel.Task | None = None

    def __len__(self) -> int:
        return len(self._letters)

    def __iter__(self) -> Iterator[Letter]:
        return iter(self._letters)

    def push(self, letter: Letter) -> bool:
        """Put a letter last; False when 256 wait already."""
        if self._asked >= MAILBOX_LETTERS:
            return False
        self._asked += 1
        self._letters.append(letter)
        self.poke()
        return True

    def tell(self, command: Hashable) -> None:
        """Put a command last that nobody waits for, unless an equal one waits already."""
        if command in self._told:
            return
        self._told.add(command)
        self._letters.append(Letter(command, None, None, NEVER_MS))
        self.poke()

    def drain(self, limit: int) -> list[Letter]:
        """Take out the first letters, at most `limit` of them."""
        letters: list[Letter] = []
        while self._letters and len(letters) < limit:
            letter = self._letters.popleft()
            if letter.deadline_ms == NEVER_MS:
                self._told.discard(letter.command)
            else:
                self._asked -= 1
            letters.append(letter)
        return letters

    def poke(self) -> None:
        """Wake the actor's task, to look around."""
        sleeper, self._sleeper = self._sleeper, None
        if sleeper is not None:
            trio.lowlevel.reschedule(sleeper)

    async def wait_poked(self) -> None:
        """Sleep until a letter comes or somebody pokes; only the actor's own task waits here."""
        self._sleeper = trio.lowlevel.current_task()
        await trio.lowlevel.wait_task_rescheduled(self._leave)

    def _leave(self, _: object) -> trio.lowlevel.Abort:
        self._sleeper = None
        return trio.lowlevel.Abort.SUCCEEDED
