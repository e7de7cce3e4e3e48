"""Feature or suppress any publication: a unit of work, inside the caller's transaction (contract §7).

The edge checks that the caller may do this. Each change is written to the audit trail, with its reason.
"""

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.errors import NotFound
from actors.publications.suppressing import key_of, moderated_state, suppress_others, told_with
from actors.publications.units import Published
from persistence.connection import Connection
from persistence.publications import moderating, publications
from persistence.publications.rows import PublicationRow
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
    """Feature or suppress a publication, or take that back; without effect where it is so already. What else is
    published at an address is suppressed with it, but comes back by itself alone.

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
    after = replace(after, discovery_state=moderated_state(after, stamp.at_ms), updated_at_ms=stamp.at_ms)
    await moderating.save_moderation(conn, after)
    newly = after.suppressed and not before.suppressed
    others = await suppress_others(conn, after, stamp.at_ms) if newly else []
    detail = {
        "publicationId": id,
        "before": _marks_of(before),
        "after": _marks_of(after),
        "reason": said.reason,
    }
    encoded = msgspec.json.encode(detail | told_with(others))
    await write_audit(conn, stamp, "publication.moderated", target_id=id, detail=encoded)
    return Change(after, tuple(Published(one.target) for one in (after, *others) if one.target is not None))


async def _locked(conn: Connection, id: str) -> PublicationRow:
    """The publication, which nobody else changes until the transaction ends."""
    found = await moderating.read_publication(conn, id)
    if found is not None:
        # As whoever publishes it: the address, then the target, before the row.
        await publications.hold_address(conn, key_of(found))
        if found.target is not None:
            await publications.hold(conn, found.target)
    row = await moderating.lock_publication(conn, id)
    if row is None:
        raise NotFound("no such publication")
    return row


def _marks_of(row: PublicationRow) -> dict[str, bool]:
    return {"featured": row.featured, "suppressed": row.suppressed}
