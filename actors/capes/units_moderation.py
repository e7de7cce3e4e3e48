"""What moderators do with capes: units of work. Each is in the audit trail, and its owner is notified.

Who is a moderator is the edge's business.
"""

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from actors.capes.moves import Verdict
from actors.change import Change
from actors.errors import Conflict, Forbidden, NotFound
from actors.notifications.view import NotificationsChanged
from persistence.capes import rows
from persistence.capes.rows import Cape
from persistence.connection import Connection
from persistence.notifications import notifications
from persistence.notifications.notifications import NewNotification
from persistence.users.audit import Stamp, write_audit

REASON_MAX = 500
"""Characters of a reason."""


@dataclass(frozen=True, slots=True)
class Moderation:
    """What a moderator says of a cape; None = it stays.

    Args:
        status: the verdict.
        reason: for the owner.
        name, description: in place of the owner's words.
        texture_version: of the texture that they looked at: another one by now is a conflict.
    """

    status: Verdict | None = None
    reason: str | None = None
    name: str | None = None
    description: str | None = None
    texture_version: str | None = None


@dataclass(frozen=True, slots=True)
class Moderator:
    """Who moderates, and by which request.

    Args:
        stamp: for the audit trail; its actor is the moderator.
        notice_id: a fresh objectId.
        also_own: whether they may judge capes of their own (a super-admin, who may be the only one).
    """

    stamp: Stamp
    notice_id: str
    also_own: bool

    @property
    def id(self) -> str | None:
        """The moderator's user id."""
        return self.stamp.actor_id


def texture_version(cape: Cape) -> str:
    """A short name of a cape's texture: it changes with it."""
    return version_of(cape.texture_sha256)


def version_of(texture_sha256: bytes) -> str:
    """A short name of the texture with this SHA-256."""
    return texture_sha256.hex()[:16]


async def moderate(conn: Connection, id: str, said: Moderation, by: Moderator) -> Change[Cape]:
    """Give a cape a verdict, in whatever state it is.

    Raises:
        NotFound: no such cape.
        Forbidden: it is the moderator's own.
        Conflict: the texture is not the one they looked at.
    """
    cape = await _judged(conn, id, by)
    if said.texture_version not in (None, texture_version(cape)):
        raise Conflict("the texture has changed since", textureVersion=texture_version(cape))
    after = _after(cape, said, by)
    if after == cape:
        return Change(cape)
    await rows.save_cape(conn, after)
    detail = {
        "capeId": id, "before": cape.status, "after": after.status, "reason": said.reason,
        "name": said.name, "description": said.description,
    }  # fmt: skip
    await write_audit(
        conn, by.stamp, "cape.moderated", target_id=cape.owner_id, detail=msgspec.json.encode(detail)
    )
    await _notify(conn, after, after.status, by)
    return Change(after, (NotificationsChanged(cape.owner_id),))


async def remove(conn: Connection, id: str, by: Moderator) -> Change[None]:
    """Remove a cape and what was said of it.

    Raises:
        NotFound: no such cape.
        Forbidden: it is the moderator's own.
    """
    cape = await _judged(conn, id, by)
    await rows.remove_cape(conn, id)
    detail = msgspec.json.encode({"capeId": id, "before": cape.status, "name": cape.name})
    await write_audit(conn, by.stamp, "cape.deleted", target_id=cape.owner_id, detail=detail)
    await _notify(conn, replace(cape, reason=None), "deleted", by)
    return Change(None, (NotificationsChanged(cape.owner_id),))


def _after(cape: Cape, said: Moderation, by: Moderator) -> Cape:
    status = said.status or cape.status
    changed = replace(
        cape,
        status=status,
        reason=cape.reason if said.reason is None else said.reason,
        name=cape.name if said.name is None else said.name,
        description=cape.description if said.description is None else said.description,
    )
    if changed == cape:
        return cape
    return replace(
        changed,
        approved_at_ms=(cape.approved_at_ms or by.stamp.at_ms) if status == "approved" else None,
        moderator_id=by.id,
        moderated_at_ms=by.stamp.at_ms,
        updated_at_ms=by.stamp.at_ms,
    )


async def _judged(conn: Connection, id: str, by: Moderator) -> Cape:
    cape = await rows.lock_cape(conn, id)
    if cape is None:
        raise NotFound("no such cape")
    if cape.owner_id == by.id and not by.also_own:
        raise Forbidden("nobody moderates a cape of their own")
    return cape


async def _notify(conn: Connection, cape: Cape, status: str, by: Moderator) -> None:
    data = {"capeId": cape.id, "name": cape.name, "status": status, "reason": cape.reason}
    notice = NewNotification(
        by.notice_id, cape.owner_id, "cape_moderated", by.id, msgspec.json.encode(data), by.stamp.at_ms
    )
    await notifications.add(conn, [notice])
