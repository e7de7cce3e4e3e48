"""Releases and their artifacts. Rows only."""

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

import msgspec

from persistence.connection import Connection, Row
from persistence.statements import inserting, updating

ScopeType: TypeAlias = Literal["launcher", "service", "runtime", "extension"]
"""What is released (contract §10)."""

UpdatePolicy: TypeAlias = Literal["optional", "recommended", "mandatory"]
"""How urgently a release should be installed."""

ReleaseStatus: TypeAlias = Literal["draft", "published", "yanked"]
"""The state of a release."""

Platform: TypeAlias = Literal["windows", "macos", "linux", "any"]
Arch: TypeAlias = Literal["x64", "arm64", "ia32", "any"]
ArtifactKind: TypeAlias = Literal["full", "delta"]


class Scope(msgspec.Struct, frozen=True):
    """The thing that releases are versions of; only versions of one scope are compared with each other."""

    type: ScopeType
    id: str


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a release.

    Args:
        from_version: the version that a delta is applied to; None for a whole file.
        url: where the file lies; None for a file that is uploaded to the service.
        sha256, sha512: digests in lower-case hexadecimal; None as long as they are not known.
        signature: an Ed25519 signature of the file's bytes, base64; None for an unsigned file.
        key_id: the id of the key that made the signature, or None.
        hosted: whether the service has the file's bytes.
    """

    id: str
    platform: Platform
    arch: Arch
    kind: ArtifactKind
    from_version: str | None
    file_name: str
    url: str | None
    size_bytes: int
    sha256: str | None
    sha512: str | None = None
    signature: str | None
    key_id: str | None
    hosted: bool = False


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a scope.

    Args:
        min_version: clients with a lower version must update; None if no client must.
        notes: Markdown, as it was written.
        percentage: the share of clients that a roll-out reaches, 0 to 100.
        salt: decides which clients a roll-out reaches first; 32 hexadecimal digits.
        created_by: the id of the user who made it; None once they were erased.
        artifacts: its files, in the publisher's order.
    """

    id: str
    scope: Scope
    version: str
    update_policy: UpdatePolicy
    min_version: str | None
    notes: str
    status: ReleaseStatus
    percentage: int
    salt: str
    created_by: str | None
    created_at_ms: int
    published_at_ms: int | None
    artifacts: tuple[Artifact, ...] = ()


class ReleasedVersion(msgspec.Struct, frozen=True):
    """What the order of versions needs of a release."""

    version: str
    status: ReleaseStatus
    update_policy: UpdatePolicy


class WantedReleases(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of a page of releases.

    Args:
        scope_type, scope_id: only releases of this scope; None for all.
        status: only releases in this state; None for any.
        drafts: whether drafts are included.
        before: (created_at_ms, id) of the last one of the page before; None for the first page.
        limit: at most so many.
    """

    scope_type: ScopeType | None
    scope_id: str | None
    status: ReleaseStatus | None
    drafts: bool
    before: tuple[int, str] | None
    limit: int


class ListedRelease(msgspec.Struct, frozen=True):
    """A release's place in a list, without its content.

    Args:
        size_bytes: about how many bytes the release takes in a response.
    """

    created_at_ms: int
    id: str
    size_bytes: int


async def add_release(conn: Connection, release: Release) -> None:
    """Store a new release with its artifacts."""
    values = {"scope_type": release.scope.type, "scope_id": release.scope.id}
    await conn.execute(_ADD, *(values.get(name) or getattr(release, name) for name in _COLUMNS))
    await _add_artifacts(conn, release)


async def save_release(conn: Connection, release: Release, *, artifacts: bool) -> None:
    """Store what may change of a release that the caller has locked, and all its `artifacts` if they have changed."""
    await conn.execute(_SAVE, release.id, *(getattr(release, name) for name in _CHANGING))
    if artifacts:
        await conn.execute("DELETE FROM artifacts WHERE release_id = $1", release.id)
        await _add_artifacts(conn, release)


async def delete_release(conn: Connection, id: str) -> None:
    """Delete a release with its artifacts and counts."""
    await conn.execute("DELETE FROM releases WHERE id = $1", id)


async def read_release(conn: Connection, id: str) -> Release | None:
    """One release with its artifacts, or None."""
    found = await read_releases(conn, [id])
    return found[0] if found else None


async def read_releases(conn: Connection, ids: Collection[str]) -> list[Release]:
    """Those of the named releases that exist, with their artifacts; in no order."""
    rows = await conn.fetch("SELECT * FROM releases WHERE id = ANY ($1::text[])", list(ids))
    return await _whole(conn, rows)


async def lock_release(conn: Connection, id: str) -> Release | None:
    """One release with its artifacts, its scope and then its row locked until the transaction ends; None when there is
    none. Rows that refer to it can still be written meanwhile."""
    place = await conn.fetchrow("SELECT scope_type, scope_id FROM releases WHERE id = $1", id)
    if place is None:
        return None
    await lock_scope(conn, Scope(*place))
    rows = await conn.fetch("SELECT * FROM releases WHERE id = $1 FOR NO KEY UPDATE", id)
    found = await _whole(conn, rows)
    return found[0] if found else None


async def lock_scope(conn: Connection, scope: Scope) -> None:
    """Serialise changes of a scope's releases until the transaction ends."""
    await conn.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 32))", f"releases of {scope.type} {scope.id}"
    )


async def list_releases(conn: Connection, wanted: WantedReleases) -> list[ListedRelease]:
    """The places of the wanted releases, the newest first."""
    at_ms, id = wanted.before if wanted.before is not None else (None, None)
    rows = await conn.fetch(
        _PAGE, wanted.scope_type, wanted.scope_id, wanted.status, wanted.drafts, at_ms, id, wanted.limit
    )
    return [ListedRelease(*row) for row in rows]


async def versions_of_scope(conn: Connection, scope: Scope) -> list[ReleasedVersion]:
    """All versions of a scope that were published, yanked ones too."""
    rows = await conn.fetch(
        "SELECT version, status, update_policy FROM releases"
        " WHERE scope_type = $1 AND scope_id = $2 AND status <> 'draft'",
        scope.type,
        scope.id,
    )
    return [ReleasedVersion(*row) for row in rows]


async def count_of_scope(conn: Connection, scope: Scope) -> int:
    """How many releases a scope has."""
    found: int = await conn.fetchval(
        "SELECT count(*) FROM releases WHERE scope_type = $1 AND scope_id = $2", scope.type, scope.id
    )
    return found


async def count_all(conn: Connection) -> int:
    """How many releases there are; transactions that ask this wait for each other."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('releases of all scopes', 32))")
    found: int = await conn.fetchval("SELECT count(*) FROM releases")
    return found


async def version_exists(conn: Connection, scope: Scope, version: str, *, but: str) -> bool:
    """Whether another release than `but` has this version of a scope."""
    found: bool = await conn.fetchval(
        "SELECT EXISTS (SELECT FROM releases WHERE scope_type = $1 AND scope_id = $2 AND version = $3 AND id <> $4)",
        scope.type,
        scope.id,
        version,
        but,
    )
    return found


async def release_of_artifact(conn: Connection, artifact_id: str) -> Release | None:
    """The release that an artifact belongs to, or None."""
    id = await conn.fetchval("SELECT release_id FROM artifacts WHERE id = $1", artifact_id)
    return None if id is None else await read_release(conn, id)


_COLUMNS = (
    "id", "scope_type", "scope_id", "version", "update_policy", "min_version", "notes", "status", "percentage", "salt",
    "created_by", "created_at_ms", "published_at_ms",
)  # fmt: skip
_CHANGING = ("version", "update_policy", "min_version", "notes", "status", "percentage", "published_at_ms")

_ADD = inserting("releases", _COLUMNS)
_SAVE = updating("releases", _CHANGING)
_ADD_ARTIFACT = inserting("artifacts", ("release_id", "position", *Artifact.__struct_fields__))

# Beside its address, an artifact has names, hashes and a signature.
_PAGE = """
SELECT created_at_ms, id, octet_length(notes) + 500 + (
    SELECT coalesce(sum(1000 + coalesce(octet_length(url), 0)), 0) FROM artifacts WHERE release_id = releases.id
) FROM releases
WHERE ($1::text IS NULL OR scope_type = $1) AND ($2::text IS NULL OR scope_id = $2)
AND ($3::text IS NULL OR status = $3) AND ($4 OR status <> 'draft')
AND ($5::bigint IS NULL OR (created_at_ms, id) < ($5, $6::text))
ORDER BY created_at_ms DESC, id DESC LIMIT $7
"""


async def _add_artifacts(conn: Connection, release: Release) -> None:
    names = Artifact.__struct_fields__
    rows = [
        (release.id, position, *(getattr(one, name) for name in names))
        for position, one in enumerate(release.artifacts)
    ]
    await conn.executemany(_ADD_ARTIFACT, rows)


async def _whole(conn: Connection, rows: Sequence[Row]) -> list[Release]:
    found = await conn.fetch(
        "SELECT * FROM artifacts WHERE release_id = ANY ($1::text[]) ORDER BY release_id, position",
        [row["id"] for row in rows],
    )
    artifacts: dict[str, list[Artifact]] = {}
    for one in found:
        fields = {name: one[name] for name in Artifact.__struct_fields__}
        artifacts.setdefault(one["release_id"], []).append(Artifact(**fields))
    return [_release(row, tuple(artifacts.get(row["id"], ()))) for row in rows]


def _release(row: Row, artifacts: tuple[Artifact, ...]) -> Release:
    fields = {name: row[name] for name in _COLUMNS if name not in {"scope_type", "scope_id"}}
    return Release(**fields, scope=Scope(row["scope_type"], row["scope_id"]), artifacts=artifacts)
