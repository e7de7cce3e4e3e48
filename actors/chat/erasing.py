"""Erasing a user from conversations (contract §8): they leave them, and everything that calls them by their name calls
them `deleted`. Who comes back under the same id is in none of them.

Newest messages are memory of their conversation, so that it changes them itself, in a turn (`TellErased`). Older ones,
those of conversations that the user has left, and the archive are rewritten where they lie: each record only if it is
still the one that was read, because an old message may be voted on or deleted meanwhile. What was told of them stands
in the journals, also in those of conversations of which nothing else names them any more, and is rewritten as well
(`forgetting.py`).

Theory of operation. What a turn journals it takes from memory, or from rows that it has read. So these forget the name
first, and the journals afterwards, in one walk: when it begins, no turn can bring the name back.

- An old message: its row is rewritten, and then its conversation takes a turn. Turns follow one another. One that came
  before has read the row when it may still have held the name, and is committed by now: if it wrote the name back,
  that is seen, and everything done again. One that comes later reads the row as it was rewritten.
- A message in memory: that same turn forgets the name in memory and row together. (The turn before the rewriting is not
  enough: a conversation that is loaded in between takes old rows into memory.)
- Who is called what, in memory: their conversations take a turn before the walk, with which the user leaves them.
- An archived message is not journaled any more.

An interrupted run may have ended between the rewriting and the turn after it, when rows without the name tell nothing
of a turn that still has it. So all conversations that hold the user's id are told at first, and not only those that
hold the name.
"""

from collections.abc import Sequence

from actors.chat import records
from actors.chat.commands import TellArchive, TellErased, Told
from actors.chat.events import AnyEvent, PastRewritten, UserErased
from actors.chat.forgetting import Tell, erased_line, erased_record, forget_in_journals
from actors.chat.rules_members import leave_erased
from actors.chat.state import State
from actors.kernel.store import Store
from persistence.chat import conversations, naming
from persistence.chat.naming import FIRST, Place, Table
from persistence.connection import Connection

AT_ONCE = 100
"""Conversations of a user that are read at once."""


def take_erased(state: State, command: TellErased, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on the report that a user was erased."""
    user_id = command.user_id
    lines = tuple(line for one in state.window if (line := erased_line(one, user_id)) is not None)
    gone = leave_erased(state, user_id, now_ms)
    if not lines:
        return (PastRewritten(), *gone)
    last = state.last_message
    preview = next(
        (
            records.preview(records.decode(one.record))
            for one in lines
            if last is not None and one.id == last.id
        ),
        None,
    )
    return (UserErased(user_id, lines, preview), *gone)


async def erase_everywhere(store: Store, user_id: str, tell: Tell) -> None:
    """Rewrite everything that names a user, page by page; to be repeated from the start when it was interrupted.

    Args:
        tell: has a conversation take a command; called several times for each.

    Raises:
        PersistenceError: the database cannot be asked. Cancellation leaves the rest to the next run.
    """
    # The rest takes a while: those who look are shown a conversation without the user at once.
    await _leave_all(store, user_id, tell)
    # The archive comes second: what moves into it meanwhile was rewritten before, or is met there.
    for table in (naming.LIVE, naming.ARCHIVED):
        place: Place | None = FIRST
        while place is not None:
            upto = await store.read(naming.page_end, table, place)
            await _Page(store, table, user_id, place, upto).erase(tell)
            place = upto
    # Once more, for those into which somebody brought the user when the erasure was just committed.
    await _leave_all(store, user_id, tell)
    await forget_in_journals(store, user_id, tell)


async def _leave_all(store: Store, user_id: str, tell: Tell) -> None:
    after_id = ""
    while ids := await store.read(conversations.of_member, user_id, after_id, AT_ONCE):
        await _tell_all(tell, ids, TellErased(user_id))
        after_id = ids[-1]


class _Page:
    """One page of messages."""

    def __init__(self, store: Store, table: Table, user_id: str, after: Place, upto: Place | None) -> None:
        self._store = store
        self._table = table
        self._user_id = user_id
        self._bounds = after, upto

    async def erase(self, tell: Tell) -> None:
        if self._table is naming.ARCHIVED:
            while told := await self._store.read(self._stale):
                await self._store.transact(self._rewrite)
                await _tell_all(tell, told, TellArchive())
            return
        told = await self._store.read(self._holding)
        while told:
            await _tell_all(tell, told, TellErased(self._user_id))
            await self._store.transact(self._rewrite)
            await _tell_all(tell, told, TellErased(self._user_id))
            told = await self._store.read(self._stale)

    async def _holding(self, conn: Connection) -> list[str]:
        """The conversations that hold the user's id here."""
        found = await naming.in_page(conn, self._table, self._user_id, *self._bounds)
        return sorted({one.conversation_id for one in found})

    async def _stale(self, conn: Connection) -> list[str]:
        """The conversations that still hold the user's name here."""
        found = await naming.in_page(conn, self._table, self._user_id, *self._bounds)
        return sorted(
            {one.conversation_id for one in found if erased_record(one.record, self._user_id) is not None}
        )

    async def _rewrite(self, conn: Connection) -> None:
        found = await naming.in_page(conn, self._table, self._user_id, *self._bounds)
        changed = [
            (one, new) for one in found if (new := erased_record(one.record, self._user_id)) is not None
        ]
        if changed:
            await naming.rewrite(conn, self._table, changed)


async def _tell_all(tell: Tell, conversation_ids: Sequence[str], command: Told) -> None:
    for conversation_id in conversation_ids:
        await tell(conversation_id, command)
