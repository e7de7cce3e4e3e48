"""What owners do with their capes: units of work, inside the caller's transaction.

Each locks the cape's row first, so that an edit and a verdict do not run at the same time.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from actors.capes.moves import Verb, moved
from actors.capes.terms import require_terms
from actors.change import Change
from actors.errors import NotFound, QuotaExceeded
from actors.moderation.events import QueueMoved
from actors.texts import line, lines
from actors.users.locking import require_user
from persistence.capes import catalog, rows
from persistence.capes.rows import Cape, Pictures
from persistence.connection import Connection

CAPES_MAX = 100
"""The most capes of one user, counting every state."""

NAME_MAX, DESCRIPTION_MAX = 64, 500
"""The longest name and description, in characters."""


@dataclass(frozen=True, slots=True)
class CapeEdit:
    """What an owner changes about a cape; None leaves a field as it is."""

    name: str | None = None
    description: str | None = None
    pictures: Pictures | None = None


@dataclass(frozen=True, slots=True)
class CapeDraft:
    """A cape to be created.

    Args:
        id: a fresh uuid.
        name, description: checked by `clean_name` and `clean_description`.
    """

    id: str
    name: str
    description: str
    pictures: Pictures


def clean_name(name: str) -> str:
    """Strip spaces around a name and check it.

    Raises:
        Invalid: nothing is left, or the name is more than a line.
    """
    return line(name.strip(), "/name", NAME_MAX)


def clean_description(description: str) -> str:
    """Strip spaces around a description and check it; line feeds are allowed.

    Raises:
        Invalid: the description has control characters.
    """
    return lines(description.strip(), "/description", DESCRIPTION_MAX)


async def draft(conn: Connection, owner_id: str, wanted: CapeDraft, now_ms: int) -> Change[Cape]:
    """Store a new draft; accepted terms are not needed yet.

    Raises:
        NotFound: there is no such user.
        QuotaExceeded: the user has 100 capes.
    """
    # Locking the user's row serialises their uploads, so that concurrent ones cannot exceed the limit.
    owner = await require_user(conn, owner_id)
    if await catalog.count_owned(conn, owner_id) >= CAPES_MAX:
        raise QuotaExceeded(message=f"at most {CAPES_MAX} capes", max=CAPES_MAX)
    cape = Cape(
        id=wanted.id,
        owner_id=owner_id,
        creator=owner.name,
        name=wanted.name,
        description=wanted.description,
        status="draft",
        texture_sha256=wanted.pictures.sha256,
        downloads=0,
        created_at_ms=now_ms,
        updated_at_ms=now_ms,
        approved_at_ms=None,
        reason=None,
        moderator_id=None,
        moderated_at_ms=None,
    )
    await rows.add_cape(conn, cape, wanted.pictures)
    return Change(cape)


async def edit(conn: Connection, owner_id: str, id: str, change: CapeEdit, now_ms: int) -> Change[Cape]:
    """Change a cape that is a draft, private or blocked.

    Args:
        id: the cape's id.

    Raises:
        NotFound: the user has no such cape.
        Conflict: the cape is pending or approved.
    """
    cape = await _own(conn, owner_id, id)
    status = moved(cape.status, Verb.EDIT)
    after = replace(
        cape,
        status=status,
        name=cape.name if change.name is None else change.name,
        description=cape.description if change.description is None else change.description,
        texture_sha256=cape.texture_sha256 if change.pictures is None else change.pictures.sha256,
        updated_at_ms=now_ms,
    )
    await rows.save_cape(conn, after)
    if change.pictures is not None:
        await rows.save_pictures(conn, id, change.pictures)
    return Change(after)


async def submit(conn: Connection, owner_id: str, id: str, now_ms: int) -> Change[Cape]:
    """Submit a cape to the moderators: it becomes pending.

    Args:
        id: the cape's id.

    Raises:
        NotFound: the user has no such cape.
        TermsNotAccepted: they have not accepted the current terms.
        Conflict: the cape is pending, approved or blocked.
    """
    cape = await _own(conn, owner_id, id)
    await require_terms(conn, owner_id)
    return Change(
        await _save(conn, replace(cape, status=moved(cape.status, Verb.SUBMIT), updated_at_ms=now_ms)),
        (QueueMoved(),),
    )


async def withdraw(conn: Connection, owner_id: str, id: str, now_ms: int) -> Change[Cape]:
    """Withdraw a pending cape: it becomes private.

    Args:
        id: the cape's id.

    Raises:
        NotFound: the user has no such cape.
        Conflict: the cape is not pending.
    """
    cape = await _own(conn, owner_id, id)
    return Change(
        await _save(conn, replace(cape, status=moved(cape.status, Verb.WITHDRAW), updated_at_ms=now_ms)),
        (QueueMoved(),),
    )


async def delete(conn: Connection, owner_id: str, id: str) -> Change[None]:
    """Delete a cape, whatever its state.

    Raises:
        NotFound: the user has no such cape.
    """
    await _own(conn, owner_id, id)
    await rows.remove_cape(conn, id)
    return Change(None, (QueueMoved(),))


async def _own(conn: Connection, owner_id: str, id: str) -> Cape:
    cape = await rows.lock_cape(conn, id)
    if cape is None or cape.owner_id != owner_id:
        raise NotFound("no such cape")
    return cape


async def _save(conn: Connection, cape: Cape) -> Cape:
    await rows.save_cape(conn, cape)
    return cape
