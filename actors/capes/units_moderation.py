"""What moderators do with capes, as units of work. Each is written to the audit trail, and the owner is notified.

The edge checks that the caller is a moderator.
"""

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from actors.capes.moves import Verdict
from actors.change import Change
from actors.errors import Conflict, Forbidden, NotFound
from actors.moderation.events import QueueMoved
from actors.notifications.view import NotificationsChanged
from persistence.capes import rows
from persistence.capes.rows import Cape
from persistence.connection import Connection
from persistence.notifications import notifications
from persistence.notifications.notifications import NewNotification
from persistence.users.audit import Stamp, write_audit

REASON_MAX = 500
"""The longest reason, in characters."""


@dataclass(frozen=True, slots=True)
class Moderation:
    """What a moderator changes about a cape; None leaves a field as it is.

    Args:
        status: the verdict.
        reason: shown to the owner; it stays only as long as the status does.
        name, description: texts in place of the owner's.
        texture_version: the version of the texture that the moderator looked at (`texture_version`): if the cape has
            another by now, that is a conflict. None to judge any.
    """

    status: Verdict | None = None
    reason: str | None = None
    name: str | None = None
    description: str | None = None
    texture_version: str | None = None


@dataclass(frozen=True, slots=True)
class Moderator:
    """The moderator of one request.

    Args:
        stamp: identifies the moderator, its actor, and their request in the audit trail.
        notice_id: a fresh objectId for the owner's notification.
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
    """A short name of a cape's texture, which differs from texture to texture."""
    return version_of(cape.texture_sha256)


def version_of(texture_sha256: bytes) -> str:
    """The short name of the texture with this SHA-256: its first 16 hex digits."""
    return texture_sha256.hex()[:16]


async def moderate(conn: Connection, id: str, said: Moderation, by: Moderator) -> Change[Cape]:
    """Give a cape a verdict or other words, in whatever state it is. A verdict that changes nothing has no effect.

    Args:
        id: the cape's id.

    Raises:
        NotFound: there is no such cape.
        Forbidden: the cape is the moderator's own.
        Conflict: the texture is not the one that the moderator looked at.
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
    return Change(after, (NotificationsChanged(cape.owner_id), QueueMoved()))


async def remove(conn: Connection, id: str, by: Moderator) -> Change[None]:
    """Delete a cape with all its rows, and notify its owner.

    Args:
        id: the cape's id.

    Raises:
        NotFound: there is no such cape.
        Forbidden: the cape is the moderator's own.
    """
    cape = await _judged(conn, id, by)
    await rows.remove_cape(conn, id)
    # Not what its owner has called it: the trail outlives them.
    detail = msgspec.json.encode({"capeId": id, "before": cape.status})
    await write_audit(conn, by.stamp, "cape.deleted", target_id=cape.owner_id, detail=detail)
    await _notify(conn, replace(cape, reason=None), "deleted", by)
    return Change(None, (NotificationsChanged(cape.owner_id), QueueMoved()))


def _after(cape: Cape, said: Moderation, by: Moderator) -> Cape:
    status = said.status or cape.status
    changed = replace(
        cape,
        status=status,
        # The reason of the verdict before is none of this one.
        reason=cape.reason if said.reason is None and status == cape.status else said.reason,
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
        raise Forbidden("a moderator may not moderate their own cape")
    return cape


async def _notify(conn: Connection, cape: Cape, status: str, by: Moderator) -> None:
    data = {"capeId": cape.id, "name": cape.name, "status": status, "reason": cape.reason}
    notice = NewNotification(
        by.notice_id, cape.owner_id, "cape_moderated", by.id, msgspec.json.encode(data), by.stamp.at_ms
    )
    await notifications.add(conn, [notice])
