"""The rows of a batch of turns: what happened in each is folded to its outcome, then one statement a table.

A message that was sent and edited in one turn is inserted as sent and updated as edited; a member who left
and came back has the marks of a newcomer. One actor has at most one turn in a batch, so that rows of turns
never meet.
"""

from collections.abc import Sequence

import msgspec

from actors.chat import events
from actors.chat.events import AnyEvent
from actors.chat.retelling import retell, retellings
from actors.chat.window import Line
from persistence.chat import attachments, conversations, member_locks, members, mentions, messages, polls
from persistence.chat.rows import (
    JoinRow,
    MentionRow,
    MessageRow,
    PageRow,
    ReadRow,
    RevisionRow,
    VoteRow,
)
from persistence.connection import Connection
from persistence.journal.turn import Statement, Turn
from persistence.users.audit import write_audit


async def persist(conn: Connection, turns: Sequence[Turn]) -> None:
    """Write the rows of all turns, inside the writer's transaction."""
    await Changes(turns).write(conn)
    for conversation_id, told in retellings(turns).items():
        await retell(conn, conversation_id, told)


def plan(turns: Sequence[Turn]) -> list[Statement] | None:
    """The statements that `persist` would run for turns that only post messages and mark them read; else None."""
    if any(not isinstance(event, _SIMPLE) for turn in turns for event in turn.events):
        return None
    return Changes(turns).statements()


# Their rows are new, or the mark of one member: no statement of theirs meets a row of another.
_SIMPLE = (events.MessageCreated, events.ReadMarked)


class Changes:
    """The outcome of many turns, by table."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.created: list[MessageRow] = []
        self.used: dict[str, tuple[str, str, int]] = {}  # {attachment id: (it, message id, used at ms)}
        self.changed: dict[str, Line] = {}  # {message id: its last line}
        self.revisions: list[RevisionRow] = []
        self.deleted: list[str] = []
        self.votes: dict[tuple[str, str], VoteRow] = {}  # {(message id, user id): last choice}
        self.mentions: dict[tuple[str, int], MentionRow] = {}  # {(conversation id, seq): of new messages}
        self.changed_mentions: dict[tuple[str, int], MentionRow] = {}  # the same, of changed ones
        self.joined: dict[tuple[str, str], JoinRow] = {}  # {(conversation id, user id): …}
        self.left: dict[tuple[str, str], None] = {}
        self.spoke: dict[tuple[str, str], None] = {}  # {(conversation id, user id): wrote for the first time}
        self.reads: dict[tuple[str, str], ReadRow] = {}
        self.mutes: dict[tuple[str, str], bool] = {}
        self.titles: dict[str, str | None] = {}
        self.owners: dict[str, str | None] = {}
        self.keys: dict[str, str | None] = {}
        self.audited: list[tuple[str, events.DeletionAudited]] = []  # with the conversation's id
        for turn in turns:
            for event in turn.events:
                self.take(turn.id, event)

    def take(self, conversation_id: str, event: AnyEvent) -> None:
        """Add one event to the changes; call it in the order of the events."""
        match event:
            case events.MessageCreated():
                self._created(conversation_id, event)
            case events.MessageEdited():
                self._edited(conversation_id, event)
            case events.MessageDeleted():
                self.changed[event.line.id] = event.line
                self.deleted.append(event.line.id)
                self._change_mentions(conversation_id, event.line, ())
            case events.TextReplaced():
                self.revisions.append(
                    RevisionRow(
                        event.message_id, event.revision, event.content, event.since_ms, event.editor_id
                    )
                )
            case events.DeletionAudited():
                self.audited.append((conversation_id, event))
            case events.PollVoted():
                self.changed[event.line.id] = event.line
                vote = VoteRow(event.line.id, event.voter_id, event.option_ids)
                self.votes[event.line.id, event.voter_id] = vote
            case events.PollClosed():
                self.changed[event.line.id] = event.line
            case events.UserErased():
                self.changed |= {line.id: line for line in event.lines}
            case _:
                self._take_membership(conversation_id, event)

    def _take_membership(self, conversation_id: str, event: AnyEvent) -> None:
        match event:
            case events.MembersAdded():
                for member in event.members:
                    key = conversation_id, member.user_id
                    self._forget_marks(key)
                    self.joined[key] = JoinRow(*key, member.joined_at_ms, member.joined_seq)
                self.keys[conversation_id] = event.participant_key
            case events.MemberRemoved():
                key = conversation_id, event.user_id
                self._forget_marks(key)
                self.joined.pop(key, None)
                self.left[key] = None
                self.owners[conversation_id] = event.owner_id
                self.keys[conversation_id] = event.participant_key
            case events.ConversationChanged():
                self.titles[conversation_id] = event.title
            case events.ReadMarked():
                read_at_ms = event.notice.last_read_at_ms
                row = ReadRow(conversation_id, event.user_id, event.seq, read_at_ms, event.own_at_read)
                self.reads[conversation_id, event.user_id] = row
            case events.MuteChanged():
                self.mutes[conversation_id, event.user_id] = event.muted
            case _:
                pass

    def statements(self) -> list[Statement] | None:
        """The statements for new messages and read marks; None when a mark is about one of these messages."""
        statements: list[Statement] = []
        if self.reads and (self.mentions or self.spoke):
            return None
        if self.created:
            statements.append(messages.insertion(self.created))
        if self.used:
            statements.append(attachments.using(list(self.used.values())))
        if self.mentions:
            statements.append(mentions.adding(list(self.mentions.values())))
        if self.spoke:
            statements.append(members.speaking(list(self.spoke)))
        if self.reads:
            statements += members.marking(list(self.reads.values()))
        return statements

    async def write(self, conn: Connection) -> None:
        """Write all changes; tables without changes are not touched."""
        marked = {*self.left, *self.joined, *self.spoke, *self.reads, *self.mutes}
        if marked:  # several statements change them, and messages between
            await member_locks.hold(conn, marked)
        await self._write_members(conn)
        await self._write_messages(conn)
        # Marks last: what is read now takes away mentions that came in this very turn.
        if self.reads:
            await members.mark_read(conn, list(self.reads.values()))
        if self.mutes:
            await members.mute(conn, [(*key, muted) for key, muted in self.mutes.items()])
        for conversation_id, event in self.audited:
            await _audit(conn, conversation_id, event)

    async def _write_members(self, conn: Connection) -> None:
        if self.left:
            await members.remove(conn, list(self.left))
        if self.joined:
            await members.join(conn, list(self.joined.values()))
        if self.titles or self.owners or self.keys:
            await conversations.change(conn, titles=self.titles, owners=self.owners, keys=self.keys)
        if self.spoke:
            await members.speak(conn, list(self.spoke))

    async def _write_messages(self, conn: Connection) -> None:
        if self.created:
            await messages.insert(conn, self.created)
        if self.used:
            await attachments.use(conn, list(self.used.values()))
        if self.changed:
            rows = [
                PageRow(line.id, line.created_at_ms, line.record, line.has_poll, line.poll_expires_at_ms)
                for line in self.changed.values()
            ]
            await messages.update(conn, rows, poll_open=[line.poll_open for line in self.changed.values()])
        if self.mentions:
            await mentions.add(conn, list(self.mentions.values()))
        if self.changed_mentions:
            await mentions.replace(conn, list(self.changed_mentions.values()))
        if self.revisions:
            await messages.add_revisions(conn, self.revisions)
        if self.votes:
            await polls.store(conn, list(self.votes.values()))
        if self.deleted:
            await messages.drop_revisions(conn, self.deleted)
            await polls.drop(conn, self.deleted)
            await attachments.free_of_messages(conn, self.deleted)

    def _created(self, conversation_id: str, event: events.MessageCreated) -> None:
        line = event.line
        self.created.append(
            MessageRow(
                conversation_id=conversation_id,
                seq=line.seq,
                id=line.id,
                created_at_ms=line.created_at_ms,
                sender_id=line.sender_id,
                sender_seq=event.sender_seq,
                client_message_id=line.client_message_id,
                record=line.record,
                has_poll=line.has_poll,
                poll_open=line.poll_open,
                poll_expires_at_ms=line.poll_expires_at_ms,
            )
        )
        for attachment_id in line.attachment_ids:
            self.used[attachment_id] = attachment_id, line.id, line.created_at_ms
        if event.sender_seq == 1:
            self.spoke[conversation_id, line.sender_id] = None
        if event.mentioned:
            self.mentions[conversation_id, line.seq] = MentionRow(conversation_id, line.seq, event.mentioned)

    def _edited(self, conversation_id: str, event: events.MessageEdited) -> None:
        line = event.line
        self.changed[line.id] = line
        self._change_mentions(conversation_id, line, event.mentioned)

    def _change_mentions(self, conversation_id: str, line: Line, mentioned: tuple[str, ...]) -> None:
        self.mentions.pop((conversation_id, line.seq), None)
        self.changed_mentions[conversation_id, line.seq] = MentionRow(conversation_id, line.seq, mentioned)

    def _forget_marks(self, key: tuple[str, str]) -> None:
        self.reads.pop(key, None)
        self.spoke.pop(key, None)
        self.mutes.pop(key, None)


async def _audit(conn: Connection, conversation_id: str, event: events.DeletionAudited) -> None:
    detail = msgspec.json.encode({"conversationId": conversation_id, "messageId": event.message_id})
    await write_audit(conn, event.stamp, "message.deleted", target_id=event.sender_id, detail=detail)
