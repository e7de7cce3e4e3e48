"""Change the hosts that launchers may talk to: a unit of work, inside the caller's transaction."""

from collections.abc import Callable

import msgspec

from actors.errors import RevisionConflict
from persistence.connection import Connection
from persistence.launcher import allowlist
from persistence.launcher.allowlist import Allowlist
from persistence.users.audit import Stamp, write_audit

AUDITED_HOSTS = 50
"""Most added and most removed hosts that an audit entry names; it has the numbers of all."""


async def put(
    conn: Connection, hosts: list[str], is_current: Callable[[Allowlist], bool], stamp: Stamp
) -> Allowlist:
    """Replace the list; the same hosts again keep their version.

    Args:
        hosts: the new hosts, in their normal form and sorted.
        is_current: whether the stored list is the one that the client has seen and changed.
        stamp: identifies the caller and their request in the audit trail.

    Raises:
        RevisionConflict: the list has changed since the client saw it; `meta.revision` is the stored version.
    """
    before = await allowlist.lock(conn)
    if not is_current(before):
        raise RevisionConflict(revision=before.version)
    if hosts == before.hosts:
        return before
    after = Allowlist(before.version + 1, hosts, stamp.at_ms)
    await allowlist.save(conn, after)
    added, removed = sorted({*hosts} - {*before.hosts}), sorted({*before.hosts} - {*hosts})
    detail = {
        "version": after.version, "added": added[:AUDITED_HOSTS], "removed": removed[:AUDITED_HOSTS],
        "addedCount": len(added), "removedCount": len(removed),
    }  # fmt: skip
    await write_audit(conn, stamp, "allowlist.changed", target_id=None, detail=msgspec.json.encode(detail))
    return after
