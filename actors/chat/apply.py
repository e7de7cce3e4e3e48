"""What each event makes of the state: pure and total, the same whether it happens now or is read from the
journal.

What was read for a command (`looked_up`) stays as it is: the answer is made with it, and then it is forgotten.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from actors.chat import events
from actors.chat.lookups import newest_archived, newest_left_out_ms
from actors.chat.public import LastEvent
from actors.chat.records import DELETED
from actors.chat.rules_members import READ_TOLD_EVERY_MS, READ_TOLD_MEMBERS
from actors.chat.state import (
    MENTIONS_KEPT,
    LastMessage,
    Member,
    State,
)
from actors.chat.window import Line, Window

OnePoll = dict[str, tuple[str, ...]]  # {user id: option ids}


def apply(state: State, event: events.AnyEvent) -> State:  # noqa: PLR0911 - a table
    """The state after an event, for every event in every state."""
    match event:
        case events.MessageCreated():
            return _created(state, event)
        case events.MessageEdited():
            return _edited(state, event)
        case events.MessageDeleted():
            return _deleted(state, event)
        case events.PollVoted():
            return _voted(state, event)
        case events.PollClosed():
            return _closed(state, event)
        case events.MembersAdded() | events.MemberRemoved() | events.ConversationChanged():
            return _membership(state, event)
        case events.ReadMarked() | events.ReadTold():
            return _read(state, event)
        case _:
            return _told(state, event)


def _created(state: State, event: events.MessageCreated) -> State:
    line = event.line
    members = state.members.copy()
    sender = members.get(line.sender_id)
    if sender is not None:
        members[sender.user_id] = replace(sender, sent=event.sender_seq, spoke=True)
    if event.mentioned:
        _mention(members, line.seq, event.mentioned)
    created = replace(
        state,
        window=state.window.with_newest(line),
        votes={**state.votes, line.id: {}} if line.has_poll else state.votes,
        members=members,
        deadlines=_deadlines(state, line) if line.has_poll else state.deadlines,
        message_seq=line.seq,
        last_ms=line.created_at_ms,
        updated_at_ms=max(state.updated_at_ms, line.created_at_ms),
        last_message=LastMessage(line.id, line.seq, line.created_at_ms, line.sender_id, event.preview),
        last_event=LastEvent("message_created", line.id, line.sender_id, line.created_at_ms),
    )
    return _without_passed(created, state.window)


def _without_passed(state: State, before: Window) -> State:
    """The state without what it keeps for messages that have left its window.

    Args:
        state: a state that already has the next version of the window.
        before: the version of the window before that.
    """
    left = before.left_before(state.window)
    if left and (state.votes or not state.older_live):
        gone = {line.id for line in left}
        votes = {id: choices for id, choices in state.votes.items() if id not in gone}
        state = replace(state, older_live=True, votes=votes)
    if state.archived:
        archived = newest_archived(state.window, state.archived)
        passed_ms = newest_left_out_ms(state.archived, archived)
        state = replace(state, archived=archived, older_archived_ms=max(state.older_archived_ms, passed_ms))
    return state


def _edited(state: State, event: events.MessageEdited) -> State:
    members = state.members.copy()
    _forget_mention(members, event.line.seq)
    _mention(members, event.line.seq, event.mentioned)
    changed = _with_line(state, event.line, event.at_ms, preview=event.preview)
    return replace(
        changed,
        members=members,
        last_event=LastEvent("message_edited", event.line.id, event.line.sender_id, event.at_ms),
    )


def _deleted(state: State, event: events.MessageDeleted) -> State:
    members = state.members.copy()
    _forget_mention(members, event.line.seq)
    changed = _with_line(state, event.line, event.at_ms, preview="")
    return replace(
        changed,
        members=members,
        votes={id: choices for id, choices in changed.votes.items() if id != event.line.id},
        last_event=LastEvent("message_deleted", event.line.id, event.actor_id, event.at_ms),
    )


def _voted(state: State, event: events.PollVoted) -> State:
    changed = _with_line(state, event.line, event.at_ms)
    votes = changed.votes
    mine = votes.get(event.line.id)
    if mine is not None:
        poll: OnePoll = {user_id: chosen for user_id, chosen in mine.items() if user_id != event.voter_id}
        if event.option_ids:
            poll[event.voter_id] = event.option_ids
        votes = {**votes, event.line.id: poll}
    return replace(
        changed,
        votes=votes,
        last_event=LastEvent("poll_voted", event.line.id, event.voter_id, event.at_ms),
    )


def _closed(state: State, event: events.PollClosed) -> State:
    return _with_line(state, event.line, event.at_ms)


def _membership(
    state: State, event: events.MembersAdded | events.MemberRemoved | events.ConversationChanged
) -> State:
    changed = replace(state, updated_at_ms=max(state.updated_at_ms, event.at_ms))
    if isinstance(event, events.ConversationChanged):
        return replace(changed, title=event.title)
    if isinstance(event, events.MembersAdded):
        added = {member.user_id: member for member in event.members}
        return replace(changed, members={**state.members, **added})
    gone = event.user_id
    return replace(
        changed,
        owner_id=event.owner_id,
        members={id: member for id, member in state.members.items() if id != gone},
        read_notices_sent_ms={id: ms for id, ms in state.read_notices_sent_ms.items() if id != gone},
        read_notices_due={id: owed for id, owed in state.read_notices_due.items() if id != gone},
    )


def _read(state: State, event: events.ReadMarked | events.ReadTold) -> State:
    user_id = event.notice.user_id
    told, owed = state.read_notices_sent_ms, state.read_notices_due
    if isinstance(event, events.ReadTold) or event.everyone:
        told = {**told, user_id: event.at_ms}
        owed = {id: waiting for id, waiting in owed.items() if id != user_id}
    elif user_id in told and len(state.members) <= READ_TOLD_MEMBERS:
        owed = {**owed, user_id: (told[user_id] + READ_TOLD_EVERY_MS, event.notice)}
    members = state.members
    if isinstance(event, events.ReadMarked) and user_id in members:
        member = members[user_id]
        read = replace(
            member,
            read_seq=event.seq,
            read_at_ms=event.notice.last_read_at_ms,
            own_at_read=event.own_at_read,
            mentions=tuple(seq for seq in member.mentions if seq > event.seq),
        )
        members = {**members, user_id: read}
    return replace(state, members=members, read_notices_sent_ms=told, read_notices_due=owed)


def _told(state: State, event: events.AnyEvent) -> State:
    match event:
        case events.MuteChanged():
            return _with_member(state, event.user_id, muted=event.muted)
        case events.MemberRenamed():
            return _with_member(state, event.user_id, name=event.name)
        case events.UserErased():
            return _erased(state, event)
        case events.ArchiveSeen():
            newest_ms = event.lines[-1].created_at_ms if event.lines else 0
            return replace(
                state,
                archived=event.lines,
                older_live=event.older_live,
                older_archived_ms=event.older_archived_ms,
                last_ms=max(state.last_ms, newest_ms),
            )
        case _:
            return state


def _erased(state: State, event: events.UserErased) -> State:
    lines = {line.id: line for line in event.lines}
    last = state.last_message
    if last is not None and event.preview is not None:
        last = replace(last, preview=event.preview)
    named = _with_member(state, event.user_id, name=DELETED)
    window = Window(lines.get(line.id, line) for line in state.window)
    return _without_passed(replace(named, window=window, last_message=last), state.window)


def _with_member(state: State, user_id: str, **fields: object) -> State:
    member = state.members.get(user_id)
    if member is None:
        return state
    return replace(state, members={**state.members, user_id: replace(member, **fields)})


def _with_line(state: State, line: Line, at_ms: int, *, preview: str | None = None) -> State:
    """The state with a message's line replaced, if the window holds it, and with what depends on that line."""
    last = state.last_message
    if preview is not None and last is not None and last.id == line.id:
        last = replace(last, preview=preview)
    changed = replace(
        state,
        window=state.window.with_changed(line),
        deadlines=_deadlines(state, line),
        updated_at_ms=max(state.updated_at_ms, at_ms),
        last_message=last,
    )
    return _without_passed(changed, state.window)


def _deadlines(state: State, line: Line) -> dict[str, int]:
    if state.deadlines.get(line.id) == line.poll_expires_at_ms:
        return state.deadlines
    left = {id: due_ms for id, due_ms in state.deadlines.items() if id != line.id}
    if line.poll_expires_at_ms is not None:
        left[line.id] = line.poll_expires_at_ms
    return left


def _mention(members: dict[str, Member], seq: int, mentioned: Iterable[str]) -> None:
    """Note a mention for each member named in a message, except those who have read past it; `members` is the caller's
    own copy."""
    for user_id in mentioned:
        member = members.get(user_id)
        if member is not None and seq > member.read_seq:
            seqs = sorted({*member.mentions, seq})[-MENTIONS_KEPT:]
            members[user_id] = replace(member, mentions=tuple(seqs))


def _forget_mention(members: dict[str, Member], seq: int) -> None:
    for user_id, member in members.items():
        if seq in member.mentions:
            left = tuple(one for one in member.mentions if one != seq)
            members[user_id] = replace(member, mentions=left)
