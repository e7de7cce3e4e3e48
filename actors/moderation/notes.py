"""Notes of moderators about users: units of work, inside the caller's transaction.

Every moderator reads all notes; a note is changed and removed by its author, and by super-admins. The edge checks that
the caller is a moderator. Each change is written to the audit trail, without the text: that is to go with the user.
"""

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from actors.errors import Forbidden, NotFound, QuotaExceeded
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.moderation import notes
from persistence.moderation.notes import Note
from persistence.users.audit import Stamp, write_audit

TEXT_MAX = 2_000
"""The longest note, in characters."""

NOTES_MAX = 200
"""The most notes about one user."""


@dataclass(frozen=True, slots=True)
class Writer:
    """The moderator of one request.

    Args:
        name: what they are called.
        stamp: for the audit trail; its actor is the moderator.
        also_others: whether they may change notes of others (a super-admin).
    """

    name: str
    stamp: Stamp
    also_others: bool


async def add(conn: Connection, user_id: str, id: str, text: str, by: Writer) -> Note:
    """Note something about a user.

    Args:
        id: a fresh objectId.
        text: checked, 1 to `TEXT_MAX` characters.

    Raises:
        NotFound: there is no such user.
        QuotaExceeded: there are `NOTES_MAX` notes about them.
    """
    # The lock serialises notes about one user, so that concurrent ones cannot exceed the limit.
    await require_user(conn, user_id)
    if await notes.count_notes(conn, user_id) >= NOTES_MAX:
        raise QuotaExceeded(message=f"at most {NOTES_MAX} notes about one user", max=NOTES_MAX)
    at_ms = by.stamp.at_ms
    note = Note(0, id, user_id, by.stamp.actor_id, by.name, text, at_ms, at_ms)
    await notes.add_note(conn, note)
    await _audit(conn, "note.added", note, by)
    return note


async def change(conn: Connection, user_id: str, id: str, text: str, by: Writer) -> Note:
    """Replace the text of a note; the same text changes nothing.

    Args:
        id: of the note.
        text: checked, 1 to `TEXT_MAX` characters.

    Raises:
        NotFound: there is no such note about this user.
        Forbidden: it is another moderator's.
    """
    note = await _own(conn, user_id, id, by)
    if note.text == text:
        return note
    after = replace(note, text=text, updated_at_ms=by.stamp.at_ms)
    await notes.save_text(conn, after)
    await _audit(conn, "note.changed", after, by)
    return after


async def remove(conn: Connection, user_id: str, id: str, by: Writer) -> None:
    """Delete a note.

    Args:
        id: of the note.

    Raises:
        NotFound: there is no such note about this user.
        Forbidden: it is another moderator's.
    """
    note = await _own(conn, user_id, id, by)
    await notes.remove_note(conn, id)
    await _audit(conn, "note.removed", note, by)


async def _own(conn: Connection, user_id: str, id: str, by: Writer) -> Note:
    note = await notes.lock_note(conn, user_id, id)
    if note is None:
        raise NotFound("no such note")
    if note.author_id != by.stamp.actor_id and not by.also_others:
        raise Forbidden("only for the note's author and super-admins", role="super-admin")
    return note


async def _audit(conn: Connection, action: str, note: Note, by: Writer) -> None:
    detail = msgspec.json.encode({"noteId": note.id})
    await write_audit(conn, by.stamp, action, target_id=note.user_id, detail=detail)
