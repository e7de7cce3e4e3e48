"""A lookup: the rows that a letter needs beside the state are read, and the letter is decided on them.

Invariant: whatever goes wrong while rows are read fails this letter alone; the turn that it is part of goes on.
"""

from collections.abc import Callable
from typing import Any

from actors.kernel.facets import Lookups
from actors.kernel.mailbox import Letter
from actors.kernel.runtime import Runtime
from actors.kernel.supervisor import Contained, Fault
from actors.kernel.turn import TurnDraft
from persistence.errors import PersistenceError


async def look_up(
    runtime: Runtime, lookups: Lookups[Any, Any], draft: TurnDraft, letter: Letter, then: Callable[[], None]
) -> None:
    """Read the rows that a letter needs, and have it decided or refused. Cancellation: it is neither.

    Args:
        runtime: what all actors of the system share.
        lookups: the lookups of the owner's kind.
        draft: the turn, whose `needs` says which rows.
        letter: the letter under consideration.
        then: called once the letter is dealt with.
    """
    with Contained("reading for a command", draft.kind.name, draft.id) as reading:
        try:
            found = await runtime.store.read(lookups.fetch, draft.id, draft.needs)
        except PersistenceError as failure:
            draft.refuse(letter, failure)
        else:
            draft.resume(lookups, letter, found)
    if reading.fault is not None:
        draft.refuse(letter, Fault())
    then()
