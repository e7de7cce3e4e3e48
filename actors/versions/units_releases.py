"""Make, change and delete releases: units of work, inside the caller's transaction."""

import msgspec

from actors.change import Change
from actors.errors import Conflict, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.users.locking import require_user
from actors.versions.events import ScopeChanged
from actors.versions.releases import (
    CHANGES_WHEN_PUBLISHED,
    MOVES,
    check_new_release,
    check_release,
    draft_of,
)
from persistence.connection import Connection
from persistence.users.audit import Stamp, write_audit
from persistence.versions import releases as rows
from persistence.versions.pointers import is_active
from persistence.versions.releases import Artifact, Release

RELEASES_OF_SCOPE_MAX = 1_000
"""The most releases of one scope."""

RELEASES_MAX = 20_000
"""The most releases of all scopes."""


class ReleaseChanges(msgspec.Struct, frozen=True):
    """Changes of a release.

    Args:
        fields: {name of a field of `ReleaseDraft`: its new value}.
        artifacts: the artifacts in place of all present ones; None leaves these.
    """

    fields: dict[str, object]
    artifacts: tuple[Artifact, ...] | None


async def make_release(conn: Connection, release: Release, stamp: Stamp) -> Change[Release]:
    """Store a new release.

    Args:
        release: the release, a draft or published; it is checked here.
        stamp: identifies the publisher and their request in the audit trail.

    Raises:
        Invalid: the release breaks a rule.
        NotFound: the publisher was erased meanwhile.
        Conflict: the scope has a release of this version.
        QuotaExceeded: there are too many releases.
    """
    check_new_release(release.scope, draft_of(release), release.artifacts)
    if release.created_by is not None:
        await require_user(conn, release.created_by)
    await rows.lock_scope(conn, release.scope)
    if await rows.version_exists(conn, release.scope, release.version, but=release.id):
        raise Conflict("there is a release of this version")
    if await rows.count_of_scope(conn, release.scope) >= RELEASES_OF_SCOPE_MAX:
        raise QuotaExceeded(message=f"at most {RELEASES_OF_SCOPE_MAX} releases", max=RELEASES_OF_SCOPE_MAX)
    if await rows.count_all(conn) >= RELEASES_MAX:
        raise QuotaExceeded(message=f"at most {RELEASES_MAX} releases", max=RELEASES_MAX)
    await rows.add_release(conn, release)
    if release.status == "published":
        await _audit(conn, release, "release.published", stamp)
    return Change(release, (ScopeChanged(release.scope),))


async def change_release(conn: Connection, id: str, changes: ReleaseChanges, stamp: Stamp) -> Change[Release]:
    """Change a release: anything of a draft, and a few things of a published one.

    Raises:
        NotFound: there is no such release.
        Invalid: the changed release would break a rule.
        Conflict: the release is published or yanked and may not change so, or the scope has a release of the new
            version.
    """
    before = await rows.lock_release(conn, id)
    if before is None:
        raise NotFound("no such release")
    draft = msgspec.structs.replace(draft_of(before), **changes.fields)
    if (before.status, draft.status) not in MOVES:
        raise Conflict("this release cannot become that any more", status=before.status)
    changed = {name for name in changes.fields if getattr(draft, name) != getattr(before, name)}
    if before.status != "draft" and (changes.artifacts is not None or changed - CHANGES_WHEN_PUBLISHED):
        raise Conflict("what is published does not change", status=before.status)
    if before.status == "yanked" and changed:
        raise Conflict("this release was yanked", status=before.status)
    artifacts = before.artifacts if changes.artifacts is None else changes.artifacts
    check_release(before.scope, draft, artifacts)
    if "version" in changed and await rows.version_exists(conn, before.scope, draft.version, but=id):
        raise Conflict("there is a release of this version")
    if draft.status == "yanked" and await is_active(conn, id):
        raise Conflict("a channel points to this release; activate another one first", status=before.status)
    after = msgspec.structs.replace(before, **msgspec.structs.asdict(draft), artifacts=artifacts)
    return await save(conn, before, after, stamp)


async def save(conn: Connection, before: Release, after: Release, stamp: Stamp) -> Change[Release]:
    """Store a changed release that the caller has locked and checked, and note in the audit trail if it has moved, or
    is offered to other clients, or in another way, than before.
    """
    if before.status == "draft" and after.status == "published":
        after = msgspec.structs.replace(after, published_at_ms=stamp.at_ms)
    if after != before:
        await rows.save_release(conn, after, artifacts=after.artifacts != before.artifacts)
    action = MOVES[before.status, after.status]
    if action is not None:
        await _audit(conn, after, action, stamp)
    elif before.status == "published" and (said := _offered(after)) != (was := _offered(before)):
        await _audit(conn, after, "release.changed", stamp, before=was, after=said)
    return Change(after, (ScopeChanged(after.scope),))


def _offered(release: Release) -> dict[str, object]:
    """What decides who is offered a published release, or has to take it; its notes do neither."""
    return {
        "updatePolicy": release.update_policy,
        "minVersion": release.min_version,
        "percentage": release.percentage,
    }


async def delete_release(conn: Connection, id: str, stamp: Stamp) -> Change[None]:
    """Delete a release that no channel points to.

    Raises:
        NotFound: there is no such release.
        Conflict: a channel points to it.
    """
    release = await rows.lock_release(conn, id)
    if release is None:
        raise NotFound("no such release")
    if await is_active(conn, id):
        raise Conflict("a channel points to this release", status=release.status)
    await rows.delete_release(conn, id)
    if release.status != "draft":
        await _audit(conn, release, "release.deleted", stamp)
    return Change(None, (ScopeChanged(release.scope),))


def publishable(release: Release) -> None:
    """Check that a draft can be published as it is.

    Raises:
        Invalid: an artifact has neither bytes nor an address.
    """
    flaws = [
        FieldError(f"/artifacts/{index}/url", "REQUIRED", "an address, or its bytes put here")
        for index, one in enumerate(release.artifacts)
        if one.url is None and not one.hosted
    ]
    if flaws:
        raise Invalid(*flaws)


async def _audit(conn: Connection, release: Release, action: str, stamp: Stamp, **more: object) -> None:
    detail = {
        "releaseId": release.id, "scopeType": release.scope.type, "scopeId": release.scope.id,
        "version": release.version, **more,
    }  # fmt: skip
    await write_audit(conn, stamp, action, target_id=None, detail=msgspec.json.encode(detail))
