"""Notes of moderators about users: units of work, inside the caller's transaction.

Every moderator reads all notes but those about themselves; a note is changed and removed by its author, and by
super-admins, who also handle notes about themselves. The edge checks that the caller is a moderator. Each change is
written to the audit trail, without the text: that is to go with the user.
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
        name: the moderator's name.
        stamp: identifies the moderator, its actor, and their request in the audit trail.
        super_admin: whether they are a super-admin, who may change notes of others, and handle notes about themselves.
    """

    name: str
    stamp: Stamp
    super_admin: bool


def require_other(user_id: str, by_id: str | None, *, super_admin: bool) -> None:
    """Check that a moderator who handles notes about a user is somebody else, or a super-admin.

    Args:
        user_id: the user whom the notes are about.
        by_id: the id of the moderator.
        super_admin: whether the moderator is a super-admin.

    Raises:
        Forbidden: the notes are about the moderator.
    """
    if user_id == by_id and not super_admin:
        raise Forbidden("only super-admins read and write notes about themselves", role="super-admin")


async def add(conn: Connection, user_id: str, id: str, text: str, by: Writer) -> Note:
    """Note something about a user.

    Args:
        id: a fresh objectId.
        text: the text, checked: 1 to `TEXT_MAX` characters.

    Raises:
        Forbidden: the note is about the moderator.
        NotFound: there is no such user, or the moderator was erased meanwhile.
        QuotaExceeded: there are `NOTES_MAX` notes about this user.
    """
    require_other(user_id, by.stamp.actor_id, super_admin=by.super_admin)
    # The lock serialises notes about one user, so that concurrent ones cannot exceed the limit.
    for locked in sorted({user_id, by.stamp.actor_id or user_id}):
        await require_user(conn, locked)
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
        id: the note's id.
        text: the new text, checked: 1 to `TEXT_MAX` characters.

    Raises:
        NotFound: there is no such note about this user.
        Forbidden: the note is another moderator's, or about the moderator.
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
        id: the note's id.

    Raises:
        NotFound: there is no such note about this user.
        Forbidden: the note is another moderator's, or about the moderator.
    """
    note = await _own(conn, user_id, id, by)
    await notes.remove_note(conn, id)
    await _audit(conn, "note.removed", note, by)


def require_own(note: Note | None, by_id: str | None, *, super_admin: bool) -> Note:
    """Check that there is a note, and that it is the moderator's to change.

    Args:
        note: the one that a request names, or None.
        by_id: the moderator.
        super_admin: whether the moderator is one.

    Raises:
        NotFound: there is none.
        Forbidden: it is another moderator's.
    """
    if note is None:
        raise NotFound("no such note")
    if note.author_id != by_id and not super_admin:
        raise Forbidden("only for the note's author and super-admins", role="super-admin")
    return note


async def _own(conn: Connection, user_id: str, id: str, by: Writer) -> Note:
    require_other(user_id, by.stamp.actor_id, super_admin=by.super_admin)
    note = await notes.lock_note(conn, user_id, id)
    return require_own(note, by.stamp.actor_id, super_admin=by.super_admin)


async def _audit(conn: Connection, action: str, note: Note, by: Writer) -> None:
    detail = msgspec.json.encode({"noteId": note.id})
    await write_audit(conn, by.stamp, action, target_id=note.user_id, detail=detail)
