"""Let a channel point to a release: a unit of work, inside the caller's transaction."""

import msgspec

from actors.change import Change
from actors.errors import Conflict, NotFound, QuotaExceeded, RevisionConflict
from actors.users.locking import require_user
from actors.versions.events import ScopeChanged
from actors.versions.semantic import precedence
from actors.versions.units_releases import publishable, save
from persistence.connection import Connection
from persistence.users.audit import Stamp, write_audit
from persistence.versions import pointers as rows
from persistence.versions.pointers import Pointer
from persistence.versions.releases import Scope, lock_release, read_release

POINTERS_MAX = 2_000
"""The most channels of all scopes."""

HISTORY_KEPT = 1_000
"""Most revisions of a channel that are kept. What clients are offered depends on the pointer alone."""


class Activated(msgspec.Struct, frozen=True):
    """A pointer, and whether it has moved."""

    pointer: Pointer
    moved: bool


async def activate(
    conn: Connection,
    scope: Scope,
    channel: str,
    release_id: str,
    *,
    expected_revision: int | None,
    stamp: Stamp,
) -> Change[Activated]:
    """Let a channel point to a release; the same one again changes nothing. A draft is published by it.

    Going back is activating an older release than the present one.

    Args:
        expected_revision: the revision of the pointer that the publisher has seen, 0 for no pointer; None for any.
        stamp: identifies the publisher and their request in the audit trail.

    Raises:
        NotFound: the scope has no such release, or the publisher was erased meanwhile.
        RevisionConflict: the pointer has moved since the publisher saw it.
        Conflict: the release was yanked.
        Invalid: the release is a draft, and one of its artifacts has neither bytes nor an address.
        QuotaExceeded: there are too many channels.
    """
    if stamp.actor_id is not None:
        await require_user(conn, stamp.actor_id)
    release = await lock_release(conn, release_id)
    if release is None or release.scope != scope:
        raise NotFound("no such release of this scope")
    before = await rows.lock_pointer(conn, scope, channel)
    revision = 0 if before is None else before.revision
    if expected_revision is not None and expected_revision != revision:
        raise RevisionConflict(revision=revision)
    if before is not None and before.release_id == release_id:
        return Change(Activated(before, moved=False))
    if release.status == "yanked":
        raise Conflict("this release was yanked", status=release.status)
    if before is None and await rows.count_pointers(conn) >= POINTERS_MAX:
        raise QuotaExceeded(message=f"at most {POINTERS_MAX} channels", max=POINTERS_MAX)
    if release.status == "draft":
        publishable(release)
        published = msgspec.structs.replace(release, status="published")
        await save(conn, release, published, _apart(stamp))
    former = None if before is None else await read_release(conn, before.release_id)
    pointer = Pointer(
        scope=scope,
        channel=channel,
        release_id=release_id,
        previous_release_id=None if former is None else former.id,
        revision=revision + 1,
        went_back=former is not None and precedence(release.version) < precedence(former.version),
        activated_by=stamp.actor_id,
        activated_at_ms=stamp.at_ms,
    )
    await rows.save_pointer(conn, pointer)
    await rows.forget_activations(conn, scope, channel, upto_revision=pointer.revision - HISTORY_KEPT)
    await _audit(conn, pointer, release.version, stamp)
    return Change(Activated(pointer, moved=True), (ScopeChanged(scope),))


def _apart(stamp: Stamp) -> Stamp:
    """The stamp of a second entry of the same request: an id of its own, made of the first one's."""
    return msgspec.structs.replace(stamp, entry_id=f"{int(stamp.entry_id, 16) ^ 1:024x}")


async def _audit(conn: Connection, pointer: Pointer, version: str, stamp: Stamp) -> None:
    detail = {
        "scopeType": pointer.scope.type, "scopeId": pointer.scope.id, "channel": pointer.channel,
        "releaseId": pointer.release_id, "version": version, "revision": pointer.revision,
    }  # fmt: skip
    await write_audit(conn, stamp, "channel.activated", target_id=None, detail=msgspec.json.encode(detail))
