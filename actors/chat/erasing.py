"""Erasing a user from conversations (contract §8): everything that calls them by their name calls them `deleted`.

Newest messages are memory of their conversation, so that it changes them itself, in a turn (`TellErased`). Older ones,
those of conversations that the user has left, and the archive are rewritten where they lie: each record only if it is
still the one that was read, because an old message may be voted on or deleted meanwhile. What was told of them stands
in the journal, and is rewritten as well (`forgetting.py`).
"""

from collections.abc import Awaitable, Callable, Sequence

from actors.chat import records
from actors.chat.commands import TellErased
from actors.chat.events import AnyEvent, UserErased
from actors.chat.forgetting import erased_line, erased_record, forget_in_journal
from actors.chat.records import DELETED
from actors.chat.state import State
from actors.kernel.store import Store
from persistence.chat import naming
from persistence.chat.naming import FIRST, Place, Table
from persistence.connection import Connection

Tell = Callable[[str], Awaitable[None]]
"""Has a conversation, live or not, take `TellErased`."""


def take_erased(state: State, command: TellErased) -> Sequence[AnyEvent]:
    """Decide on the report that a user was erased. No events if their name is gone already."""
    user_id = command.user_id
    lines = tuple(line for one in state.window if (line := erased_line(one, user_id)) is not None)
    member = state.members.get(user_id)
    if not lines and (member is None or member.name == DELETED):
        return ()
    last = state.last_message
    preview = next(
        (
            records.preview(records.decode(one.record))
            for one in lines
            if last is not None and one.id == last.id
        ),
        None,
    )
    return (UserErased(user_id, lines, preview),)


async def erase_everywhere(store: Store, user_id: str, tell: Tell) -> None:
    """Rewrite everything that names a user, page by page; to be repeated from the start when it was interrupted.

    Raises:
        PersistenceError: the database is away.
    """
    # The archive comes second: what moves into it meanwhile was rewritten before, or is met there.
    for table in (naming.LIVE, naming.ARCHIVED):
        place: Place | None = FIRST
        while place is not None:
            place = await _erase_page(store, table, user_id, place, tell)


async def _erase_page(store: Store, table: Table, user_id: str, after: Place, tell: Tell) -> Place | None:
    async def stale(conn: Connection, upto: Place | None) -> list[str]:
        found = await naming.in_page(conn, table, user_id, after, upto)
        return sorted(
            {one.conversation_id for one in found if erased_record(one.record, user_id) is not None}
        )

    async def rewrite(conn: Connection) -> None:
        found = await naming.in_page(conn, table, user_id, after, upto)
        changed = [(one, new) for one in found if (new := erased_record(one.record, user_id)) is not None]
        if changed:
            await naming.rewrite(conn, table, changed)

    upto = await store.read(naming.page_end, table, after)
    while told := await store.read(stale, upto):
        if table is naming.LIVE:
            for conversation_id in told:
                await tell(conversation_id)
                await forget_in_journal(store, conversation_id, user_id)
        await store.transact(rewrite)
        if table is naming.LIVE:
            # A vote that had read an old message before this commits it as it was; but no later than the turn here.
            for conversation_id in told:
                await tell(conversation_id)
    return upto
