"""Rows that a command needs beside the state: old messages, uploads, names of users to be added.

Asked for within the turn, directly before the decision, and only for commands of members, so that a stranger
costs no read. What comes back fills one slot of the state, for that one command.

Rows are read as they are committed. Which events of the turn change them is said by `overlaps`, also of messages that
the turn itself has made and, being large, pushed out of the window again.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from actors.chat.commands import (
    MAX_ATTACHMENTS,
    AddParticipants,
    AnyCommand,
    ClosePoll,
    DeleteMessage,
    EditMessage,
    MarkRead,
    MeetDeadlines,
    PostMessage,
    TellArchive,
    VotePoll,
)
from actors.chat.events import (
    AnyEvent,
    MessageCreated,
    MessageDeleted,
    MessageEdited,
    PollClosed,
    PollVoted,
    UserErased,
)
from actors.chat.need import Need
from actors.chat.records import line_of, page_line_of
from actors.chat.state import (
    MAX_MEMBERS,
    NOBODY_REFUSES,
    NOTHING_LOOKED_UP,
    ArchiveTail,
    LookedUp,
    State,
    find_line,
)
from actors.chat.window import WINDOW_BYTES, WINDOW_LINES, Line
from actors.kernel.facets import Lookups
from actors.pages import fitting
from persistence.chat import archive, attachments, consent, conversations, messages, polls
from persistence.connection import Connection
from persistence.journal import rewriting
from persistence.users.names import read_names

RETOLD_EVENTS = 500
"""Most journaled events that are rewritten when the text of their message changes: the newest (`retelling.py`)."""


def missing(state: State, command: AnyCommand) -> Need | None:  # noqa: PLR0911 - a table
    """What `decide` needs from rows for this command and the state does not hold; None if nothing."""
    match command:
        case PostMessage():
            return _for_post(state, command)
        case VotePoll() | ClosePoll():
            return _for_message(state, command.user_id, command.message_id, voter_id=command.user_id)
        case MarkRead():
            return _for_message(state, command.user_id, command.message_id, reader_id=command.user_id)
        case EditMessage():
            return _for_change(state, command.user_id, command.message_id, voter_id=command.user_id)
        case DeleteMessage():
            user_id = None if command.moderator else command.user_id
            return _for_change(state, user_id, command.message_id)
        case MeetDeadlines():
            old = tuple(
                id for id in command.message_ids if id in state.deadlines and not _in_window(state, id)
            )
            return Need(message_ids=old) if old else None
        case AddParticipants():
            new = tuple(id for id in command.new_user_ids if id not in state.members)
            wanted = command.user_id == state.owner_id and 0 < len(new) <= MAX_MEMBERS
            return Need(user_ids=new, adder_id=command.user_id) if wanted else None
        case TellArchive():
            return Need(archive=True, oldest_seq=oldest_seq(state))
        case _:
            return None


def _for_post(state: State, command: PostMessage) -> Need | None:
    if command.sender_id not in state.members:
        return None
    client_id = command.draft.client_message_id
    client = None
    if client_id is not None:
        if state.window.said(command.sender_id, client_id) is not None:
            return None
        # A new id is nearly always new, and the rows refuse one that is not: only then it is looked up.
        client = (command.sender_id, client_id) if state.older_live and state.doubtful else None
    attachment_ids = (command.draft.attachment_ids or ())[:MAX_ATTACHMENTS]
    if client is None and not attachment_ids:
        return None
    return Need(client=client, attachment_ids=attachment_ids)


def _for_message(
    state: State,
    user_id: str | None,
    message_id: str,
    *,
    voter_id: str | None = None,
    reader_id: str | None = None,
) -> Need | None:
    anything_older = state.older_live or state.older_archived_ms > 0 or bool(state.archived)
    stranger = user_id is not None and user_id not in state.members
    if stranger or not anything_older or _in_window(state, message_id):
        return None
    return Need(message_ids=(message_id,), voter_id=voter_id, reader_id=reader_id)


def _for_change(
    state: State, user_id: str | None, message_id: str, *, voter_id: str | None = None
) -> Need | None:
    if user_id is not None and user_id not in state.members:
        return None
    need = _for_message(state, user_id, message_id, voter_id=voter_id) or Need()
    line = find_line(state, message_id)
    # Each message took an offset of its own, so that no offset of this one is lower than its seq.
    return replace(need, told_of=message_id, told_since=0 if line is None else line.seq)


def _in_window(state: State, message_id: str) -> bool:
    return any(line.id == message_id for line in reversed(state.window))


async def fetch(conn: Connection, conversation_id: str, need: Need) -> LookedUp:
    """Read the rows that `missing` has named."""
    lines: dict[str, Line] = {}
    archived: frozenset[str] = frozenset()
    choices: dict[str, tuple[str, ...]] = {}
    own_after: dict[str, int | None] = {}
    original = None
    if need.message_ids:
        rows = await messages.by_ids(conn, conversation_id, need.message_ids)
        lines = {row.id: line_of(row) for row in rows}
        if len(lines) < len(need.message_ids):
            archived = await archive.among(conn, conversation_id, need.message_ids)
    if need.voter_id is not None:
        polled = [line.id for line in lines.values() if line.has_poll]
        choices = await polls.choices(conn, polled, need.voter_id) if polled else {}
    if need.reader_id is not None:
        for line in lines.values():
            own_after[line.id] = await messages.own_after(conn, conversation_id, need.reader_id, line.seq)
    if need.client is not None:
        row = await messages.by_client_id(conn, conversation_id, *need.client)
        original = None if row is None else line_of(row)
        if original is not None and original.has_poll:
            choices = await polls.choices(conn, [original.id], need.client[0])
    told: tuple[int, ...] = ()
    if need.told_of is not None:
        since = lines[need.told_of].seq if need.told_of in lines else need.told_since
        told = await rewriting.offsets_holding(
            conn,
            conversations.KIND,
            conversation_id,
            need.told_of.encode(),
            since=since,
            limit=RETOLD_EVENTS + 1,
        )
    uploads = (
        await attachments.by_ids(conn, conversation_id, need.attachment_ids) if need.attachment_ids else []
    )
    return LookedUp(
        lines=lines,
        archived=archived,
        choices=choices,
        own_after=own_after,
        original=original,
        attachments={row.id: row for row in uploads},
        names=await read_names(conn, need.user_ids) if need.user_ids else {},
        consent=await consent.among(conn, need.adder_id, need.user_ids) if need.user_ids else NOBODY_REFUSES,
        archive=(await read_tails(conn, {conversation_id: need.oldest_seq}))[conversation_id]
        if need.archive
        else None,
        told=told,
    )


def overlaps(event: AnyEvent, need: Need) -> bool:
    """Whether an event changes what `fetch` reads: the messages asked for, votes in them, events that tell of them, the
    uploads to be used.

    Names of users and the archive have other writers, and who has sent how much before a message is settled once that
    message lies outside the window.
    """
    match event:
        case MessageCreated(line=line):
            return _is_meant(line, need) or not set(line.attachment_ids).isdisjoint(need.attachment_ids)
        case (
            MessageEdited(line=line)
            | MessageDeleted(line=line)
            | PollVoted(line=line)
            | PollClosed(line=line)
        ):
            return _is_meant(line, need)
        case UserErased(lines=lines):
            return any(_is_meant(line, need) for line in lines)
        case _:
            return False


def _is_meant(line: Line, need: Need) -> bool:
    named = line.id in need.message_ids or line.id == need.told_of
    return named or (line.sender_id, line.client_message_id) == need.client


def absorb(state: State, looked_up: LookedUp) -> State:
    """The state with the rows of `fetch`, for the command being decided."""
    return replace(state, looked_up=looked_up)


def forget(state: State) -> State:
    """The state without the rows that `absorb` has added."""
    return state if state.looked_up is NOTHING_LOOKED_UP else replace(state, looked_up=NOTHING_LOOKED_UP)


def distrust(state: State) -> State:
    """A state that skips no optional lookup; used after PostgreSQL has rejected a turn (`Lookups.distrust`)."""
    return state if state.doubtful else replace(state, doubtful=True)


async def read_tails(conn: Connection, oldest_seqs: Mapping[str, int | None]) -> dict[str, ArchiveTail]:
    """Read what rows hold beside the windows of conversations, {conversation id: that}.

    Args:
        oldest_seqs: {conversation id: the seq of the window's oldest message, None when the window is empty}.
    """
    archived = await archive.tails_of(conn, list(oldest_seqs), WINDOW_LINES + 1)
    begun = {id: seq for id, seq in oldest_seqs.items() if seq is not None}
    older = await messages.with_older(conn, begun) if begun else set[str]()
    return {id: ArchiveTail(tuple(map(page_line_of, rows)), id in older) for id, rows in archived.items()}


def newest_archived(window: Iterable[Line], archived: tuple[Line, ...]) -> tuple[Line, ...]:
    """Those of the archived lines that are among the newest 120 of all, or fewer where those have too many bytes."""
    if not archived:
        return archived
    newest_first = sorted((*window, *archived), key=place, reverse=True)[:WINDOW_LINES]
    oldest = place(fitting(newest_first, record_bytes, WINDOW_BYTES)[-1])
    return tuple(line for line in archived if place(line) >= oldest)


def newest_left_out_ms(archived: tuple[Line, ...], kept: tuple[Line, ...]) -> int:
    """`createdAtMs` of the newest archived line that was not kept; 0 when all were."""
    left_out = archived[: len(archived) - len(kept)]
    return left_out[-1].created_at_ms if left_out else 0


def record_bytes(line: Line) -> int:
    """How many bytes a message takes in a page."""
    return len(line.record)


def oldest_seq(state: State) -> int | None:
    """The seq of the window's oldest message."""
    return state.window[0].seq if state.window else None


def place(line: Line) -> tuple[int, str]:
    """Where a line stands in a page: by time, then by id."""
    return line.created_at_ms, line.id


LOOKUPS: Lookups[State, AnyCommand] = Lookups(
    missing=missing, fetch=fetch, absorb=absorb, forget=forget, overlaps=overlaps, distrust=distrust
)
"""The lookups of the kind."""
