"""What chat reads from rows, in memory: the kind's loading and looking up, and the inbox.

`simulated_chat` is the real kind and the real view over these reads: rules, rendering, followers and deadlines are
untouched. That the reads give what SQL gives is tested against PostgreSQL (`test_like_postgres.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace as replace_fields

from msgspec.structs import replace

from actors.chat.inbox_state import Entry, InboxState, Reread
from actors.chat.kind import ChatKinds, chat_kinds
from actors.chat.lookups import RETOLD_EVENTS, Need, oldest_seq
from actors.chat.persisting import plan
from actors.chat.records import line_of
from actors.chat.state import ArchiveTail, LookedUp, Member, State, decode_summary
from actors.chat.stored import facts_of_row, standing_of_row
from actors.chat.window import WINDOW_LINES, Window
from actors.kernel.facets import Together, Unjournaled
from persistence.chat.rows import EntryRow, MessageRow
from tests.simulation.chat_rows import KIND, USERS, Rows, persist
from tests.simulation.tables import Tables

MENTIONS_COUNTED = 200


def simulated_chat(now_ms: Callable[[], int]) -> ChatKinds:
    """The kinds of chat over rows in memory."""
    kinds = chat_kinds(lambda _ids: (), now_ms)
    conversation, inbox = kinds.conversation, kinds.inbox
    assert conversation.lookups is not None
    changes = {
        "load": load,
        "persist": persist,
        "plan": plan,
        "lookups": replace_fields(conversation.lookups, fetch=fetch),
        "unjournaled": Unjournaled(refresh=refresh),
        "together": Together(load=load_many, refresh=refresh_many),
    }
    # The view looks at live conversations by the name of the kind, so that it need not know which of the two it is.
    return replace_fields(
        kinds,
        conversation=replace_fields(conversation, **changes),
        inbox=replace_fields(inbox, load=load_inbox, load_many=load_inboxes, reread=reread_inbox),
    )


async def load(tables: Tables, id: str) -> State | None:
    """`loading.load`."""
    rows: Rows | None = tables.rows.get((KIND, id))
    head = tables.heads.get((KIND, id))
    if rows is None or head is None:
        return None
    summary = decode_summary(head.summary)
    newest = list(rows.messages.values())[-WINDOW_LINES:]
    window = Window(line_of(one) for one in newest)
    polled = [line.id for line in window if line.has_poll]
    state = State(
        id=rows.row.id,
        kind="direct" if rows.row.kind == "direct" else "group",
        title=rows.row.title,
        owner_id=rows.row.owner_id,
        created_at_ms=rows.row.created_at_ms,
        updated_at_ms=summary.updated_at_ms,
        message_seq=summary.message_seq,
        last_ms=summary.last_ms,
        members={},
        window=window,
        votes={id: rows.votes.get(id, {}) for id in polled},
        deadlines={
            one.id: one.poll_expires_at_ms
            for one in rows.messages.values()
            if one.poll_expires_at_ms is not None
        },
        last_message=summary.last_message,
        last_event=summary.last_event,
    )
    return await refresh(tables, id, state)


async def load_many(tables: Tables, ids: Sequence[str]) -> dict[str, State]:
    """`loading.load_many`."""
    found = {id: await load(tables, id) for id in ids}
    return {id: state for id, state in found.items() if state is not None}


async def refresh_many(tables: Tables, states: Mapping[str, State]) -> dict[str, State]:
    """`loading.refresh_many`."""
    return {id: await refresh(tables, id, state) for id, state in states.items()}


async def refresh(tables: Tables, id: str, state: State) -> State:
    """`loading.refresh`, for a conversation without archive."""
    rows: Rows = tables.rows[KIND, id]
    return replace(
        state,
        members=_members(tables, rows),
        archived=(),
        older_live=_tail(rows, oldest_seq(state)).older_live,
        older_archived_ms=0,
    )


async def fetch(tables: Tables, id: str, need: Need) -> LookedUp:
    """`lookups.fetch`, without uploads and without the archive."""
    rows: Rows = tables.rows[KIND, id]
    lines = {id: line_of(rows.messages[id]) for id in need.message_ids if id in rows.messages}
    choices: dict[str, tuple[str, ...]] = {}
    if need.voter_id is not None:
        choices = _choices(rows, list(lines), need.voter_id)
    own_after: dict[str, int | None] = {}
    if need.reader_id is not None:
        own_after = {line.id: _own_after(rows, need.reader_id, line.seq) for line in lines.values()}
    original = None
    if need.client in rows.said:
        original = line_of(rows.messages[rows.said[need.client]])
        if original.has_poll:
            choices = _choices(rows, [original.id], need.client[0])
    told: tuple[int, ...] = ()
    if need.told_of is not None:
        since = lines[need.told_of].seq if need.told_of in lines else need.told_since
        text = need.told_of.encode()
        rows_told = [
            row.seq for row in tables.events.get((KIND, id), ()) if row.seq >= since and text in row.event
        ]
        told = tuple(rows_told[-(RETOLD_EVENTS + 1) :])
    names: dict[str, str] = tables.rows[USERS]
    return LookedUp(
        lines=lines,
        choices=choices,
        own_after=own_after,
        original=original,
        names={id: names[id] for id in need.user_ids if id in names},
        archive=_tail(rows, need.oldest_seq) if need.archive else None,
        told=told,
    )


async def load_inbox(tables: Tables, user_id: str) -> InboxState:
    """`inbox.load`."""
    return (await load_inboxes(tables, [user_id]))[user_id]


async def load_inboxes(tables: Tables, user_ids: Sequence[str]) -> dict[str, InboxState]:
    """`inbox.load_many`, for users with fewer conversations than are shown."""
    found: dict[str, InboxState] = {}
    for user_id in user_ids:
        ids = [id for kind, id in tables.rows if kind == KIND]
        entries = [entry for id in ids if (entry := _entry(tables, id, user_id)) is not None]
        entries.sort(key=lambda entry: entry.place, reverse=True)
        found[user_id] = InboxState(user_id, tuple(entries), {})
    return found


async def reread_inbox(tables: Tables, user_id: str, sources: AbstractSet[str]) -> Reread:
    """`inbox.reread`."""
    return Reread({id: _entry(tables, id, user_id) for id in sorted(sources)})


def _entry(tables: Tables, id: str, user_id: str) -> Entry | None:
    rows: Rows | None = tables.rows.get((KIND, id))
    if rows is None or user_id not in rows.members:
        return None
    members = _members(tables, rows)
    own = members[user_id]
    others = [one for one in members if one != rows.row.owner_id]
    shown = [rows.row.owner_id, *others] if rows.row.owner_id in members else others
    row = EntryRow(
        conversation=rows.row,
        summary=tables.heads[KIND, id].summary,
        participants=tuple((one, members[one].name) for one in shown),
        silent=tuple(one for one in shown if not members[one].spoke),
        participant_count=len(members),
        muted=own.muted,
        read_seq=own.read_seq,
        read_at_ms=own.read_at_ms,
        own_at_read=own.own_at_read,
        sent=own.sent,
        mention_count=len(own.mentions),
    )
    return Entry(facts_of_row(row), standing_of_row(row))


def _members(tables: Tables, rows: Rows) -> dict[str, Member]:
    names: dict[str, str] = tables.rows[USERS]
    order = sorted(rows.members, key=lambda id: (rows.members[id].joined_at_ms, id))
    return {
        id: Member(
            user_id=id,
            name=names.get(id, "deleted"),
            joined_at_ms=one.joined_at_ms,
            joined_seq=one.joined_seq,
            muted=one.muted,
            read_seq=one.read_seq,
            read_at_ms=one.read_at_ms,
            own_at_read=one.own_at_read,
            sent=_sent(rows, id, one.joined_seq),
            mentions=_mentions(rows, id, one.read_seq),
            spoke=one.spoke,
        )
        for id, one in ((id, rows.members[id]) for id in order)
    }


def _sent(rows: Rows, user_id: str, joined_seq: int) -> int:
    seq, sender_seq = rows.sent.get(user_id, (0, 0))
    return sender_seq if seq > joined_seq else 0


def _mentions(rows: Rows, user_id: str, read_seq: int) -> tuple[int, ...]:
    seqs = sorted(seq for id, seq in rows.mentions if id == user_id and seq > read_seq)
    return tuple(seqs[-MENTIONS_COUNTED:])


def _choices(rows: Rows, message_ids: Sequence[str], user_id: str) -> dict[str, tuple[str, ...]]:
    return {id: rows.votes[id][user_id] for id in message_ids if user_id in rows.votes.get(id, {})}


def _own_after(rows: Rows, user_id: str, seq: int) -> int | None:
    own: list[MessageRow] = [
        one for one in rows.messages.values() if one.sender_id == user_id and one.seq > seq
    ]
    return own[0].sender_seq if own else None


def _tail(rows: Rows, oldest: int | None) -> ArchiveTail:
    first = next(iter(rows.messages.values()), None)
    return ArchiveTail((), oldest is not None and first is not None and first.seq < oldest)
