"""The mailbox and the activation of a system that has an observer: the same, and each turn is seen."""

from typing import Any

from actors.kernel.activation import COMMITTING, Activation, Owner
from actors.kernel.kind import Kind
from actors.kernel.mailbox import Letter, Mailbox
from actors.kernel.observer import ObservedTurn, Observer
from actors.kernel.recovery import Recovered
from actors.kernel.runtime import Runtime
from actors.kernel.turn import TurnDraft
from persistence.errors import PersistenceError


class ObservedMailbox(Mailbox):
    """A mailbox that remembers the cause of each letter, such as the request that sent it.

    Args:
        observer: says what the present cause is.
    """

    __slots__ = ("_causes", "_observer", "taken")

    def __init__(self, observer: Observer) -> None:
        super().__init__()
        self._observer = observer
        self._causes: dict[Letter, object] = {}
        self.taken: dict[Letter, object] = {}
        """{letter: its cause} of the letters that were drained last."""

    def push(self, letter: Letter) -> bool:
        """Enqueue a letter; returns False when the mailbox is full."""
        is_queued = super().push(letter)
        if is_queued and (cause := self._observer.cause()) is not None:
            self._causes[letter] = cause
        return is_queued

    def drain(self, limit: int) -> list[Letter]:
        """Remove and return the first letters, at most `limit` of them."""
        letters = super().drain(limit)
        self.taken = {letter: self._causes.pop(letter) for letter in letters if letter in self._causes}
        return letters


class ObservedActivation(Activation):
    """An activation that reports its turns to the observer; constructed as any other."""

    __slots__ = ("_causes", "_seen")

    # All arguments are spelled out: a compiled class hands `*arguments` of its own to a compiled base as one.
    def __init__(
        self,
        kind: Kind[Any, Any],
        id: str,
        runtime: Runtime,
        *,
        mailbox: Mailbox,
        recovered: Recovered,
        fence: int,
        owner: Owner,
    ) -> None:
        self._causes: dict[Letter, object] = {}
        self._seen: ObservedTurn | None = None
        super().__init__(kind, id, runtime, mailbox=mailbox, recovered=recovered, fence=fence, owner=owner)

    def end(self) -> None:
        """End as `Activation.end` does, and report that the turn under way is over."""
        super().end()
        self._see_end()

    def _decide(self, draft: TurnDraft, since_ms: int) -> None:
        if self._seen is None and self._turn:
            self._see_begin()
        super()._decide(draft, since_ms)

    def _submit(self, draft: TurnDraft) -> None:
        super()._submit(draft)
        if self._seen is not None and self._phase == COMMITTING:
            self._seen.committing()

    def _conclude(self, draft: TurnDraft, failure: PersistenceError | None) -> None:
        if self._seen is not None:
            self._seen.committed(failure)
        super()._conclude(draft, failure)

    def _settle(self, draft: TurnDraft) -> None:
        seen = self._seen
        if seen is not None:
            channel = self.channel
            seen.publishing(len(draft.events), len(channel) if channel is not None else 0)
        super()._settle(draft)
        if seen is not None:
            seen.published()

    def _rest(self) -> None:
        self._see_end()
        super()._rest()

    def _see_begin(self) -> None:
        observer, mailbox = self._runtime.observer, self._mailbox
        if observer is None or not isinstance(mailbox, ObservedMailbox):
            return
        known = self._causes | mailbox.taken
        # Those that are carried over, or are tried singly, are wanted again.
        self._causes = {letter: known[letter] for letter in self.letters if letter in known}
        causes = [self._causes[letter] for letter in self._turn if letter in self._causes]
        self._seen = observer.begin(self.kind.name, self.id, letters=len(self._turn), causes=causes)

    def _see_end(self) -> None:
        seen, self._seen = self._seen, None
        if seen is not None:
            seen.end()
