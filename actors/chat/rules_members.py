"""Who is in a conversation, what they have read, what it is called, and who may change that (contract §4)."""

import hashlib
from collections.abc import Sequence

from msgspec import UNSET
from msgspec.structs import replace

from actors.chat import paging
from actors.chat.commands import (
    MAX_TITLE_CHARACTERS,
    AddParticipants,
    ChangeConversation,
    MarkRead,
    RemoveParticipant,
    StartTyping,
    TellArchive,
    TellRename,
)
from actors.chat.events import (
    AnyEvent,
    ArchiveSeen,
    ConversationChanged,
    MemberRemoved,
    MemberRenamed,
    MembersAdded,
    MuteChanged,
    OlderRowsChanged,
    ReadMarked,
    TypingStarted,
)
from actors.chat.lookups import newest_archived, newest_left_out_ms, place
from actors.chat.public import ReadNotice
from actors.chat.records import DELETED
from actors.chat.rules_messages import check_not_blocked, member_of
from actors.chat.sight import Relationships
from actors.chat.state import MAX_MEMBERS, Member, State, find_line, participant_key
from actors.chat.window import WINDOW_LINES, Line
from actors.errors import Blocked, Conflict, Forbidden, Invalid, NotFound
from actors.field_errors import FieldError
from actors.ids import Uuid, new_uuid
from actors.texts import line
from persistence.chat.consent import Consent

TYPING_MS = 5_000
"""How long a typing notice stands (contract §4)."""

READ_TOLD_MEMBERS = 32
"""Most members of a conversation in which the others are told how far a member has read (contract §9)."""

READ_TOLD_EVERY_MS = 1_000
"""Least time between two read notices of one reader to the others (contract §9)."""


def mark_read(state: State, command: MarkRead, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on reading up to a message; no events if it is read already.

    Up to an archived message all live ones are read that pages show before it: an import may bring what is newer.

    Raises:
        ConversationNotFound: the user is not in the conversation.
        NotFound: there is no such message.
    """
    member = member_of(state, command.user_id)
    line = find_line(state, command.message_id) or _newest_before(state, command.message_id)
    if line is None:
        if command.message_id in state.looked_up.archived:
            return ()
        raise NotFound("message not found")
    if line.seq <= member.read_seq:
        return ()
    notice = ReadNotice(user_id=member.user_id, message_id=line.id, last_read_at_ms=line.created_at_ms)
    told_ms = state.read_notices_sent_ms.get(member.user_id)
    everyone = len(state.members) <= READ_TOLD_MEMBERS and (
        told_ms is None or now_ms - told_ms >= READ_TOLD_EVERY_MS
    )
    return (ReadMarked(line.seq, notice, _own_at(state, member, line), now_ms, everyone),)


def _newest_before(state: State, archived_id: str) -> Line | None:
    """The newest live message before an archived one; None without one, or where memory does not have both."""
    until = next((place(one) for one in state.archived if one.id == archived_id), None)
    if until is None:
        return None
    return next((one for one in reversed(state.window) if place(one) < until), None)


def _own_at(state: State, member: Member, line: Line) -> int:
    """How many messages a member has sent at or below a line, since they joined."""
    after = state.looked_up.own_after.get(line.id)
    if after is not None:
        return after - 1
    # None of theirs after it in the rows; what this very turn added is in the window.
    return member.sent - sum(
        later.seq > line.seq and later.sender_id == member.user_id for later in state.window
    )


def start_typing(
    state: State, command: StartTyping, now_ms: int, relationships: Relationships
) -> Sequence[AnyEvent]:
    """Decide on showing that a member is typing. Refused to those who may not post."""
    member_of(state, command.user_id)
    check_not_blocked(state, relationships)
    return (TypingStarted(command.user_id, now_ms + TYPING_MS),)


def change(state: State, command: ChangeConversation, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on a new title and on muting. No event for a value that is set already."""
    member = member_of(state, command.user_id)
    events: list[AnyEvent] = []
    if command.title is not UNSET:
        title = (command.title or "").strip() or None
        _check_title(state, command, title)
        if title != state.title:
            events.append(ConversationChanged(title, max(now_ms, state.updated_at_ms)))
    if command.muted is not UNSET and command.muted != member.muted:
        events.append(MuteChanged(member.user_id, command.muted))
    return events


def _check_title(state: State, command: ChangeConversation, title: str | None) -> None:
    if state.kind == "group" and command.user_id != state.owner_id:
        raise Forbidden("only its owner may give a group a title")
    if title is not None:
        line(title, "/title", MAX_TITLE_CHARACTERS)
    if state.kind != "group":
        raise Conflict("only groups have a title")


def check_consent(consent: Consent) -> None:
    """Refuse to put users into a group who block the caller, whom the caller blocks, or whose settings forbid it.

    Args:
        consent: what stands between the caller and all who are to be added: if one of them cannot be added, none is.

    Raises:
        Blocked: one of them blocks the caller, or is blocked by the caller.
        Forbidden: the settings of one of them do not let the caller add them.
    """
    if consent.barred:
        raise Blocked
    if consent.unwilling:
        raise Forbidden("one of these users does not allow you to add them to groups")


def add(state: State, command: AddParticipants, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on adding members; no events for users who are in already.

    Raises:
        Conflict: it is a direct conversation.
        Forbidden: the caller does not own the group.
        Invalid: no user is named, one does not exist, or the group would have too many members.
        Blocked: a block stands between one of them and the caller.
    """
    member_of(state, command.user_id)
    if state.kind == "group" and command.user_id != state.owner_id:
        raise Forbidden("only its owner may add to a group")
    if not command.new_user_ids:
        raise Invalid(FieldError("/userIds", "REQUIRED", "at least one user"))
    if state.kind != "group":
        # Before the names: nobody's is looked up for a conversation that cannot grow.
        raise Conflict("a direct conversation keeps its two participants")
    names = state.looked_up.names
    new = list(dict.fromkeys(id for id in command.new_user_ids if id not in state.members))
    if len(state.members) + len(new) > MAX_MEMBERS:
        raise Invalid(
            FieldError("/userIds", "TOO_MANY", f"a conversation has at most {MAX_MEMBERS} participants")
        )
    unknown = [
        FieldError(f"/userIds/{place}", "UNKNOWN", "no such user")
        for place, id in enumerate(command.new_user_ids)
        if id not in state.members and id not in names
    ]
    if unknown:
        raise Invalid(*unknown)
    check_consent(state.looked_up.consent)
    if not new:
        return ()
    first_ms = _joining_ms(state, now_ms)
    joining = tuple(_fresh_member(state, id, names[id], first_ms + place) for place, id in enumerate(new))
    key = participant_key(state.kind, [*state.members, *new])
    return (MembersAdded(joining, max(now_ms, state.updated_at_ms), key),)


def _joining_ms(state: State, now_ms: int) -> int:
    """A time of joining that is later than any member's, because members are ordered by it."""
    newest = next(reversed(state.members.values()), None)
    return max(now_ms, (newest.joined_at_ms if newest else 0) + 1)


def _fresh_member(state: State, user_id: str, name: str, joined_at_ms: int) -> Member:
    return Member(
        user_id=user_id,
        name=name,
        joined_at_ms=joined_at_ms,
        joined_seq=state.message_seq,
        muted=False,
        read_seq=state.message_seq,
        read_at_ms=None,
        own_at_read=0,
        sent=0,
    )


def remove(state: State, command: RemoveParticipant, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on removing a member, or on leaving; when the owner leaves, the longest-standing member takes over.

    Raises:
        Conflict: it is a direct conversation.
        Forbidden: the member is another user, and the caller does not own the group.
        NotFound: the user is not in the group.
    """
    member_of(state, command.user_id)
    leaving = command.user_id == command.target_id
    if state.kind != "group":
        raise Conflict("a direct conversation keeps its two participants")
    if not leaving and command.user_id != state.owner_id:
        raise Forbidden("only its owner may take others out of a group")
    if command.target_id not in state.members:
        raise NotFound("no such participant")
    return (_departure(state, command.target_id, now_ms),)


def _departure(state: State, user_id: str, now_ms: int) -> MemberRemoved:
    """The event that a member leaves a group."""
    left = [id for id in state.members if id != user_id]
    owner_id = state.owner_id
    if owner_id == user_id:
        owner_id = left[0] if left else None
    key = participant_key(state.kind, left)
    return MemberRemoved(user_id, max(now_ms, state.updated_at_ms), owner_id, key)


def stand_in_of(conversation_id: str) -> Uuid:
    """The id under which a direct conversation keeps the place of a participant who was erased; it is no user's."""
    digest = hashlib.sha256(f"stand-in\n{conversation_id}".encode()).digest()
    return new_uuid(lambda length: digest[:length])


def leave_erased(state: State, user_id: str, now_ms: int) -> Sequence[AnyEvent]:
    """Decide on the leaving of a user who was erased; no events if they are not in the conversation.

    A group goes on as without any member who leaves. A direct conversation stays the other's, with a stand-in, so that
    neither it nor its pair is found by an id that somebody may come back with; without another it has no members.
    """
    if user_id not in state.members:
        return ()
    if state.kind == "group":
        return (_departure(state, user_id, now_ms),)
    # Nobody did anything there, so the conversation keeps its place in the other's list.
    at_ms = state.updated_at_ms
    stand_in_id = stand_in_of(state.id)
    left = [id for id in state.members if id not in {user_id, stand_in_id}]
    if not left:
        return tuple(MemberRemoved(id, at_ms, None, None) for id in state.members)
    stand_in = _fresh_member(state, stand_in_id, DELETED, _joining_ms(state, now_ms))
    key = participant_key(state.kind, [*left, stand_in_id])
    return MemberRemoved(user_id, at_ms, None, None), MembersAdded((stand_in,), at_ms, key)


def take_rename(state: State, command: TellRename, _now_ms: int) -> Sequence[AnyEvent]:
    """Decide on the report that a member has another name."""
    member = state.members.get(command.user_id)
    if member is None or member.name == command.name:
        return ()
    return (MemberRenamed(command.user_id, command.name),)


def take_archive(state: State, _command: TellArchive, _now_ms: int) -> Sequence[AnyEvent]:
    """Decide on the report that rows of the archive have changed, of which the newest lines were read again."""
    tail = state.looked_up.archive
    if tail is None:
        return ()
    lines = newest_archived(state.window, tail.lines)
    older_ms = newest_left_out_ms(tail.lines, lines)
    held = (state.archived, state.older_live, state.older_archived_ms)
    if (lines, tail.older_live, older_ms) == held:
        return (OlderRowsChanged(),)
    after = replace(state, archived=lines, older_live=tail.older_live, older_archived_ms=older_ms)
    return (ArchiveSeen(lines, tail.older_live, older_ms, shows=_pages(after) != _pages(state)),)


def _pages(state: State) -> object:
    """The newest pages that viewers may be shown: with archived messages, and without."""
    return [paging.newest(state, WINDOW_LINES, include_archived=archived) for archived in (True, False)]
