"""The bounded queue in which commands wait for their actor.

Invariants: a full mailbox refuses at once and never makes a caller wait; a letter whose caller has left, or whose
deadline has passed, is never decided; commands without a caller are never refused: equal ones are queued once.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from actors.errors import Draining, Overloaded, Refused
from actors.kernel.supervisor import Fault, attempt
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, PersistenceError
from persistence.journal.turn import Receipt

# Most commands of callers that wait for one actor: four turns of 64, which take a few commits. A caller behind more
# than that is better refused at once (reliability rule "bounded everything").
MAILBOX_LETTERS = 256

# The deadline of letters without one: later than any clock.
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
        command: the command to decide.
        answer: called with the outcome, once, synchronously; None without a caller.
        receipt: makes the receipt of an idempotent request from the reply; commits with the events.
        deadline_ms: epoch milliseconds at which the caller stops waiting.
        after_frames: called once, after the answer and after the first frames of the turn, if any; see `System.post`.
        passes: the letter may be sent to another node. One that came from another node may not: it is answered with
            Elsewhere, and that node sends it on.

    Attributes:
        decided: the rules have accepted it, so it may have been committed.
        open: the caller still waits for its answer.
    """

    __slots__ = ("after_frames", "answer", "command", "deadline_ms", "decided", "open", "passes", "receipt")

    def __init__(
        self,
        command: Any,
        answer: Callable[[Answer], None] | None,
        receipt: Callable[[Any], Receipt] | None,
        deadline_ms: int,
        after_frames: Callable[[], None] | None = None,
        *,
        passes: bool = True,
    ) -> None:
        self.command = command
        self.answer = answer
        self.receipt = receipt
        self.deadline_ms = deadline_ms
        self.after_frames = after_frames
        self.passes = passes
        self.decided = False
        self.open = True

    def reply(self, answer: Answer) -> None:
        """Answer the caller, unless it has left or been answered. What its callback raises is logged, not passed on."""
        if not self.open:
            return
        self.open = False
        if self.answer is not None:
            attempt("answering a caller", "", "", self.answer, answer)

    def end(self) -> None:
        """Call `after_frames`, once: the turn's frames are out, or there will be none."""
        after_frames, self.after_frames = self.after_frames, None
        if after_frames is not None:
            attempt("ending a turn for a caller", "", "", after_frames)

    def close(self, answer: Answer) -> None:
        """Answer the caller and call `after_frames`, where no frame follows."""
        self.reply(answer)
        self.end()


def failure_of(letter: Letter, failure: Failure) -> Failure:
    """Return the error for one letter of an ended activation: only a decided one may have been committed."""
    if letter.decided and isinstance(failure, Draining):
        return OutcomeUnknown("stopped while committing")
    if not letter.decided and isinstance(failure, OutcomeUnknown):
        return DatabaseUnavailable("the turn before it has an unknown outcome")
    return failure


def close_overdue(letters: Iterable[Letter], soon_ms: int) -> int:
    """Answer callers whose deadline is before `soon_ms`, epoch milliseconds; returns how many they are.

    They get OutcomeUnknown when their letter was decided in the turn under way, otherwise Overloaded.
    """
    overdue = 0
    for letter in letters:
        if letter.deadline_ms < soon_ms and letter.open:
            overdue += 1
            failure = OutcomeUnknown("no answer in time") if letter.decided else Overloaded()
            letter.close(Answer(None, failure))
    return overdue


class Mailbox:
    """The letters of one actor. A list instead of a deque, which takes 600 bytes, and none while there are no letters,
    because there are thousands of mailboxes, nearly all empty."""

    __slots__ = ("_asked", "_letters", "_told")

    def __init__(self) -> None:
        self._letters: list[Letter] | None = None
        self._told: set[Hashable] | None = None
        self._asked = 0

    def __len__(self) -> int:
        return 0 if self._letters is None else len(self._letters)

    def __iter__(self) -> Iterator[Letter]:
        return iter(self._letters or ())

    def push(self, letter: Letter) -> bool:
        """Enqueue a letter; returns False when 256 are queued already."""
        if self._asked >= MAILBOX_LETTERS:
            return False
        self._asked += 1
        self._put(letter)
        return True

    def tell(self, command: Hashable) -> None:
        """Enqueue a command without a caller, unless an equal one is queued. Never refused, nor counted in the 256."""
        if self._told is None:
            self._told = set()
        elif command in self._told:
            return
        self._told.add(command)
        self._put(Letter(command, None, None, NEVER_MS))

    def drain(self, limit: int) -> list[Letter]:
        """Remove and return the first letters, at most `limit` of them."""
        letters = self._letters
        if letters is None:
            return []
        if len(letters) <= limit:
            self._letters = None
        else:
            letters, self._letters = letters[:limit], letters[limit:]
        self._asked -= len(letters)
        if self._told is not None:
            for letter in letters:
                if letter.deadline_ms == NEVER_MS:
                    self._asked += 1
                    self._told.discard(letter.command)
            if not self._told:
                self._told = None
        return letters

    def _put(self, letter: Letter) -> None:
        if self._letters is None:
            self._letters = [letter]
        else:
            self._letters.append(letter)
