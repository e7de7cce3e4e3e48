"""Feature or suppress any publication: a unit of work, inside the caller's transaction (contract §7).

The edge checks that the caller may do this. Each change is written to the audit trail, with its reason.
"""

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.errors import NotFound
from actors.publications.states import discovery
from actors.publications.units import Published
from persistence.connection import Connection
from persistence.publications import moderating, publications
from persistence.publications.rows import DiscoveryState, PublicationRow
from persistence.users.audit import Stamp, write_audit

REASON_MAX = 500
"""The longest reason, in characters."""


class Judgement(msgspec.Struct, frozen=True):
    """What a moderator changes about a publication; None leaves it as it is.

    Args:
        featured: whether it is featured in the public list.
        suppressed: whether it is kept out of the public list.
        reason: why, for the audit trail.
    """

    featured: bool | None = None
    suppressed: bool | None = None
    reason: str | None = None


async def judge(conn: Connection, id: str, said: Judgement, stamp: Stamp) -> Change[PublicationRow]:
    """Feature or suppress a publication, or take that back; without effect where it is so already.

    Args:
        id: the publication's id.

    Raises:
        NotFound: there is no such publication.
    """
    before = await _locked(conn, id)
    after = replace(
        before,
        featured=before.featured if said.featured is None else said.featured,
        suppressed=before.suppressed if said.suppressed is None else said.suppressed,
    )
    if after == before:
        return Change(before)
    after = replace(after, discovery_state=_state(after, stamp.at_ms), updated_at_ms=stamp.at_ms)
    await moderating.save_moderation(conn, after)
    detail = {"publicationId": id, "before": _told(before), "after": _told(after), "reason": said.reason}
    encoded = msgspec.json.encode(detail)
    await write_audit(conn, stamp, "publication.moderated", target_id=id, detail=encoded)
    return Change(after, () if after.target is None else (Published(after.target),))


async def _locked(conn: Connection, id: str) -> PublicationRow:
    """The publication, which nobody else changes until the transaction ends."""
    found = await moderating.read_publication(conn, id)
    if found is not None and found.target is not None:
        # As whoever publishes it: the target before the row.
        await publications.hold(conn, found.target)
    row = await moderating.lock_publication(conn, id)
    if row is None:
        raise NotFound("no such publication")
    return row


def _state(row: PublicationRow, now_ms: int) -> DiscoveryState:
    """An address that is not published, only saved, is never in the list."""
    if row.target is None:
        return "SUPPRESSED" if row.suppressed else "UNLISTED"
    return discovery(
        suppressed=row.suppressed,
        hidden=row.hidden,
        ownership=row.ownership_state,
        seen_at_ms=row.seen_at_ms,
        now_ms=now_ms,
    )


def _told(row: PublicationRow) -> dict[str, bool]:
    return {"featured": row.featured, "suppressed": row.suppressed}
