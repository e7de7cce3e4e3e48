"""Notes of moderators about users, for moderators alone."""

from typing import Annotated

import msgspec

from actors.errors import Forbidden, Invalid, NotFound, QuotaExceeded
from actors.ids import ObjectId, UserId
from actors.moderation import units_notes
from actors.moderation.units_notes import TEXT_MAX, Writer, require_other, require_own
from actors.texts import lines_flaws, with_line_feeds
from actors.time import iso
from persistence.connection import Connection
from persistence.moderation import notes
from persistence.moderation.notes import Note
from persistence.users.users import read_user
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.principal import MODERATOR
from routes.edge.wire import Wire
from routes.users.admin import known

_NOTES = "/v1/admin/users/{userId}/notes"
_ONE = _NOTES + "/{noteId}"

_PAGES = Cursor("moderator-notes", int)


class NoteBody(Wire, frozen=True):
    """The text, 1 to 2,000 characters, of several lines if need be.

    Args:
        text: what to remember of the user.
    """

    text: Annotated[str, msgspec.Meta(max_length=TEXT_MAX)]


class UserNote(Wire, frozen=True):
    """A note about a user.

    Args:
        user_id: the user whom it is about.
        author_id, author_name: the moderator who wrote it; null for one who was erased.
        text: what is to be remembered of the user.
    """

    id: ObjectId
    user_id: str
    author_id: str | None
    author_name: str | None
    text: str
    created_at: str
    updated_at: str


class NotePage(Wire, frozen=True):
    """A page of notes, newest first."""

    items: list[UserNote]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", _NOTES, needs=MODERATOR, refusals=(NotFound, Forbidden))
async def read_notes(call: Call, user_id: UserId, query: PageQuery) -> NotePage:
    """What moderators have noted about a user, newest first.

    For moderators; the user is not told: notes about oneself are a 403, unless the caller is a super-admin. An unknown
    user is a 404.
    """
    require_other(user_id, call.user_id, super_admin=call.user.access.is_super_admin)
    rows = await call.service.database.read(_read, user_id, _PAGES.place(query.cursor), query.limit + 1)
    if rows is None:
        raise NotFound("no such user")
    page = _PAGES.page(rows, query.limit, lambda row: row.seq)
    return NotePage([_shown(row) for row in page.rows], page.next_cursor, page.has_more)


async def somebody_else(call: Call, user_id: UserId) -> None:
    """Guard: requires that there is such a user, and that they are not the caller; decided again in the transaction.

    Raises:
        Forbidden: the notes are about the caller, who is no super-admin.
        NotFound: there is no such user.
    """
    require_other(user_id, call.user_id, super_admin=call.user.access.is_super_admin)
    await known(call, user_id)


@endpoint(
    "POST",
    _NOTES,
    needs=MODERATOR,
    status=201,
    refusals=(NotFound, Forbidden, Invalid, QuotaExceeded),
    guard=somebody_else,
)
async def add_note(call: Call, user_id: UserId, body: NoteBody) -> UserNote:
    """Notes something about a user; at most 200 notes about one.

    It is erased with the user. When its author is erased, it stays without an author. Notes about oneself are a 403,
    unless the caller is a super-admin.
    """
    text, by = _text(body), _writer(call)
    return await change(call, units_notes.add, user_id, call.new_id(), text, by, about=None, shape=_shown)


async def own_note(call: Call, user_id: UserId, note_id: ObjectId) -> None:
    """Guard: requires that the note is the caller's to change; decided again in the transaction.

    Raises:
        Forbidden: it is another moderator's, or about the caller, who is no super-admin.
        NotFound: there is no such note about this user.
    """
    super_admin = call.user.access.is_super_admin
    require_other(user_id, call.user_id, super_admin=super_admin)
    note = await call.service.database.read(notes.read_note, user_id, note_id)
    require_own(note, call.user_id, super_admin=super_admin)


@endpoint("PATCH", _ONE, needs=MODERATOR, refusals=(NotFound, Forbidden, Invalid), guard=own_note)
async def change_note(call: Call, user_id: UserId, note_id: ObjectId, body: NoteBody) -> UserNote:
    """Replaces the text of a note. For its author, and super-admins.

    One about oneself is a 403, unless the caller is a super-admin.
    """
    text, by = _text(body), _writer(call)
    return await change(call, units_notes.change, user_id, note_id, text, by, about=None, shape=_shown)


@endpoint("DELETE", _ONE, needs=MODERATOR, refusals=(NotFound, Forbidden))
async def remove_note(call: Call, user_id: UserId, note_id: ObjectId) -> None:
    """Removes a note. For its author, and super-admins.

    One about oneself is a 403, unless the caller is a super-admin. Answers 204.
    """
    await change(call, units_notes.remove, user_id, note_id, _writer(call), about=None)


async def _read(conn: Connection, user_id: UserId, before_seq: int | None, limit: int) -> list[Note] | None:
    if await read_user(conn, user_id) is None:
        return None
    return await notes.list_notes(conn, user_id, before_seq, limit)


def _writer(call: Call) -> Writer:
    return Writer(call.user.name, stamp_of(call), super_admin=call.user.access.is_super_admin)


def _text(body: NoteBody) -> str:
    text = with_line_feeds(body.text).strip()
    flaws = lines_flaws(text, "/text", TEXT_MAX, required=True)
    if flaws:
        raise Invalid(*flaws)
    return text


def _shown(note: Note) -> UserNote:
    return UserNote(
        ObjectId(note.id),
        note.user_id,
        note.author_id,
        note.author_name,
        note.text,
        iso(note.created_at_ms),
        iso(note.updated_at_ms),
    )
