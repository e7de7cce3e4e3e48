"""What chat keeps in rows, in memory: the writing half of `actors/chat/persisting.py`.

How a turn is folded to rows is the real code (`Changes`, `retellings`); only its statements are done here. All rows of
one conversation are one immutable value, so that a turn is written whole or not at all.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from actors.chat.events import AnyEvent
from actors.chat.persisting import Changes
from actors.chat.retelling import Told, affordable, retellings, retold
from persistence.chat import conversations
from persistence.chat.rows import ConversationRow, MentionRow, MessageRow
from persistence.errors import RowsRejected
from persistence.journal.turn import Turn
from tests.simulation.tables import Tables

KIND = conversations.KIND

USERS = ("users", "")
"""Where the names of all users lie: {id: name}."""

_decode = msgspec.msgpack.Decoder(AnyEvent).decode
_encode = msgspec.msgpack.Encoder().encode


class Membership(msgspec.Struct, frozen=True):
    """A row of `conversation_members`."""

    joined_at_ms: int
    joined_seq: int
    read_seq: int
    muted: bool = False
    read_at_ms: int | None = None
    own_at_read: int = 0
    spoke: bool = False


class Rows(msgspec.Struct, frozen=True):
    """All rows of one conversation; whoever changes a table makes a new one.

    Args:
        messages: {id: row}, in the order of their seqs.
        said: {(sender id, client message id): message id}.
        sent: {sender id: (seq, sender_seq) of their newest message}.
        revisions: {message id: former texts}.
        votes: {message id: {user id: option ids}}.
        mentions: {(user id, seq)}, in the order of naming.
    """

    row: ConversationRow
    members: dict[str, Membership]
    messages: dict[str, MessageRow] = {}
    said: dict[tuple[str, str], str] = {}
    sent: dict[str, tuple[int, int]] = {}
    revisions: dict[str, tuple[str, ...]] = {}
    votes: dict[str, dict[str, tuple[str, ...]]] = {}
    mentions: dict[tuple[str, int], None] = {}


async def persist(tables: Tables, turns: Sequence[Turn]) -> None:
    """Write the rows of turns; raises RowsRejected, and then a turn's rows are as they were."""
    for turn in turns:
        changes = Changes([turn])
        rows = _with_members(tables.rows[KIND, turn.id], changes)
        rows = _with_messages(rows, changes)
        tables.rows[KIND, turn.id] = _with_marks(rows, changes)
        for told in retellings([turn]).values():
            await _retell(tables, turn.id, told)


def _with_members(rows: Rows, changes: Changes) -> Rows:
    members, mentions = rows.members.copy(), rows.mentions
    for _, user_id in changes.left:
        members.pop(user_id, None)
        mentions = {key: None for key in mentions if key[0] != user_id}
    for (_, user_id), join in changes.joined.items():
        members[user_id] = Membership(join.joined_at_ms, join.joined_seq, join.joined_seq)
    for _, user_id in changes.spoke:
        if user_id in members:
            members[user_id] = replace(members[user_id], spoke=True)
    row = rows.row
    for title in changes.titles.values():
        row = replace(row, title=title)
    for owner_id in changes.owners.values():
        row = replace(row, owner_id=owner_id)
    return replace(rows, row=row, members=members, mentions=mentions)


def _with_messages(rows: Rows, changes: Changes) -> Rows:
    messages, said, sent = rows.messages.copy(), rows.said.copy(), rows.sent.copy()
    revisions, votes = rows.revisions.copy(), rows.votes.copy()
    for row in changes.created:
        taken = row.client_message_id is not None and (row.sender_id, row.client_message_id) in said
        if row.id in messages or taken:
            raise RowsRejected("a message with this id exists")
        messages[row.id] = row
        sent[row.sender_id] = row.seq, row.sender_seq
        if row.client_message_id is not None:
            said[row.sender_id, row.client_message_id] = row.id
    for line in changes.changed.values():
        if line.id not in messages:
            raise RowsRejected("a message of this turn is no longer live")
        messages[line.id] = replace(
            messages[line.id],
            record=line.record,
            has_poll=line.has_poll,
            poll_open=line.poll_open,
            poll_expires_at_ms=line.poll_expires_at_ms,
        )
    for revision in changes.revisions:
        revisions[revision.message_id] = (*revisions.get(revision.message_id, ()), revision.content)
    for vote in changes.votes.values():
        poll = {id: chosen for id, chosen in votes.get(vote.message_id, {}).items() if id != vote.user_id}
        votes[vote.message_id] = poll | ({vote.user_id: vote.option_ids} if vote.option_ids else {})
    for id in changes.deleted:
        revisions.pop(id, None)
        votes.pop(id, None)
    return replace(rows, messages=messages, said=said, sent=sent, revisions=revisions, votes=votes)


def _with_marks(rows: Rows, changes: Changes) -> Rows:
    members, mentions = rows.members.copy(), rows.mentions.copy()
    _name(mentions, members, changes.mentions.values())
    renamed = {row.seq for row in changes.changed_mentions.values()}
    mentions = {key: None for key in mentions if key[1] not in renamed}
    _name(mentions, members, changes.changed_mentions.values())
    for (_, user_id), mark in changes.reads.items():
        if user_id in members:
            members[user_id] = replace(
                members[user_id],
                read_seq=mark.read_seq,
                read_at_ms=mark.read_at_ms,
                own_at_read=mark.own_at_read,
            )
        mentions = {key: None for key in mentions if key[0] != user_id or key[1] > mark.read_seq}
    for (_, user_id), muted in changes.mutes.items():
        if user_id in members:
            members[user_id] = replace(members[user_id], muted=muted)
    return replace(rows, members=members, mentions=mentions)


def _name(
    mentions: dict[tuple[str, int], None], members: dict[str, Membership], named: Iterable[MentionRow]
) -> None:
    for row in named:
        for user_id in row.user_ids:
            if user_id in members and members[user_id].read_seq < row.seq:
                mentions[user_id, row.seq] = None


async def _retell(tables: Tables, id: str, told: Told) -> None:
    line_at = {offset: line for line, offsets in told.values() for offset in offsets}
    kept, gone = affordable(await tables.sizes_at(tables, KIND, id, list(line_at)), line_at)
    if gone:
        await tables.forget_until(tables, KIND, id, gone)
    changed = {
        row.seq: _encode(retold(_decode(row.event), line_at[row.seq]))
        for row in tables.events.get((KIND, id), ())
        if row.seq in kept
    }
    await tables.rewrite_events(tables, KIND, id, changed)
