"""Releases, as publishers write them and users read them (contract §10)."""

from typing import Annotated, Literal

import msgspec

from actors.bounds import Bigint, IdText, LongText, ShortText, ruled, whole
from actors.errors import Conflict, Forbidden, Invalid, NotFound, QuotaExceeded
from actors.ids import ObjectId, random_hex
from actors.pages import fitting
from actors.texts import with_line_feeds
from actors.versions.public import ReleaseEntry, release_entry
from actors.versions.releases import (
    ARCHS,
    ARTIFACTS_MAX,
    FILE_NAME_MAX,
    KEY_ID_MAX,
    NOTES_MAX_BYTES,
    PLATFORMS,
    SCOPE_ID_FORM,
    SHA256_FORM,
    SIZE_MAX_BYTES,
    URL_MAX,
    ArtifactDraft,
    checked_artifacts,
)
from actors.versions.semantic import VERSION_MAX
from actors.versions.units_releases import ReleaseChanges, change_release, delete_release, make_release
from persistence.connection import Connection
from persistence.versions.releases import (
    Artifact,
    ArtifactKind,
    ListedRelease,
    Release,
    ReleaseStatus,
    Scope,
    ScopeType,
    UpdatePolicy,
    WantedReleases,
    list_releases,
    read_release,
    read_releases,
)
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, CursorPage, PageQuery
from routes.edge.wire import Wire

READ, WRITE, PUBLISH = "versions:read", "versions:write", "versions:publish"

_SALT_BYTES = 16
_PAGES = Cursor("releases", tuple[int, str])


ScopeId = Annotated[IdText, ruled(pattern=whole(SCOPE_ID_FORM))]
Version = Annotated[IdText, ruled(minLength=1, maxLength=VERSION_MAX)]
Notes = Annotated[LongText, ruled(maxLength=NOTES_MAX_BYTES)]


class ScopeBody(Wire, frozen=True):
    """What a release is of; `id` is 1 to 100 of letters, digits, `.`, `_` and `-`, but neither `.` nor `..`.

    Args:
        type: the kind of program.
        id: the program's id, unique in its kind.
    """

    type: ScopeType
    id: ScopeId


class RolloutBody(Wire, frozen=True):
    """How much of all clients a release reaches, 0 to 100 percent.

    Args:
        percentage: how many of a hundred clients are offered the release.
    """

    percentage: Annotated[Bigint, ruled(minimum=0, maximum=100)] = 100


class ArtifactBody(Wire, frozen=True):
    """A file of a release.

    Args:
        platform: windows, macos, linux or any; also win32, darwin.
        arch: x64, arm64, ia32 or any; also amd64, x86_64, aarch64.
        kind: `full` installs by itself, `delta` on top of `fromVersion`.
        from_version: the version that a delta is applied to.
        file_name: without a path, at most 200 characters, once in a release.
        url: an https address; left out = its bytes are put here.
        size_bytes: 1 to 2^40.
        sha256: 64 hexadecimal digits, in either case; shown in lower case.
        signature: base64 of an Ed25519 signature of the file's bytes.
        key_id: the key of the signature.
    """

    platform: Annotated[IdText, ruled(enum=list(PLATFORMS))]
    arch: Annotated[IdText, ruled(enum=list(ARCHS))]
    file_name: Annotated[ShortText, ruled(minLength=1, maxLength=FILE_NAME_MAX)]
    size_bytes: Annotated[Bigint, ruled(minimum=1, maximum=SIZE_MAX_BYTES)]
    kind: ArtifactKind = "full"
    from_version: Version | None = None
    url: Annotated[ShortText, ruled(maxLength=URL_MAX)] | None = None
    sha256: Annotated[IdText, ruled(pattern=whole(SHA256_FORM))] | None = None
    signature: IdText | None = None
    key_id: Annotated[IdText, ruled(minLength=1, maxLength=KEY_ID_MAX)] | None = None


Artifacts = Annotated[
    tuple[ArtifactBody, ...], msgspec.Meta(max_length=2 * ARTIFACTS_MAX), ruled(maxItems=ARTIFACTS_MAX)
]


class ReleaseBody(Wire, frozen=True):
    """A new release.

    Args:
        version: by SemVer 2.0.0, without a `v` in front, at most 64 characters; once in a scope.
        min_version: clients below it must update; at most `version`.
        notes: Markdown, at most 32 KiB.
        status: `published` needs `versions:publish` too.
        artifacts: at most 64; those of services and runtimes must have `sha256` and `signature`.
    """

    scope: ScopeBody
    version: Version
    update_policy: UpdatePolicy = "optional"
    min_version: Version | None = None
    notes: Notes = ""
    status: Literal["draft", "published"] = "draft"
    rollout: RolloutBody = RolloutBody()
    artifacts: Artifacts = ()


class ReleasePatch(Wire, frozen=True):
    """What changes of a release; fields that are left out stay. `ReleaseBody` explains them.

    Args:
        version: SemVer 2.0.0; only while it is a draft.
        min_version: older clients must update; null for none.
        notes: what has changed, for people.
        status: `published` needs `versions:publish` too; `yanked` does not, so that whoever wrote a release can call it
            back.
        artifacts: in place of all present ones; bytes that were put for those are dropped.
    """

    version: Version | msgspec.UnsetType = msgspec.UNSET
    update_policy: UpdatePolicy | msgspec.UnsetType = msgspec.UNSET
    min_version: Version | msgspec.UnsetType | None = msgspec.UNSET
    notes: Notes | msgspec.UnsetType = msgspec.UNSET
    status: ReleaseStatus | msgspec.UnsetType = msgspec.UNSET
    rollout: RolloutBody | msgspec.UnsetType = msgspec.UNSET
    artifacts: Artifacts | msgspec.UnsetType = msgspec.UNSET


class ReleasesQuery(PageQuery, frozen=True):
    """Which releases.

    Args:
        scope_type, scope_id: only of these.
        status: only in this state; drafts are shown to those who may write releases.
    """

    scope_type: ScopeType | None = None
    scope_id: IdText | None = None
    status: ReleaseStatus | None = None


class ReleasePage(Wire, frozen=True):
    """A page of releases, newest first; about 1 MB at most, so it may be shorter than was asked for."""

    items: list[ReleaseEntry]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", "/v1/versions/releases", needs=READ)
async def list_all_releases(call: Call, query: ReleasesQuery) -> ReleasePage:
    """Releases, newest first. Needs `versions:read`; drafts, `versions:write` too."""
    writes = call.user.access.allows(WRITE)
    wanted = WantedReleases(
        scope_type=query.scope_type, scope_id=query.scope_id, status=query.status, drafts=writes,
        before=_PAGES.place(query.cursor), limit=query.limit + 1,
    )  # fmt: skip

    async def read(conn: Connection) -> tuple[CursorPage[ListedRelease], dict[str, Release]]:
        rows = await list_releases(conn, wanted)
        size = len(fitting(rows[: query.limit], lambda row: row.size_bytes))
        page = _PAGES.page(rows, size, lambda row: (row.created_at_ms, row.id))
        return page, {one.id: one for one in await read_releases(conn, [row.id for row in page.rows])}

    page, found = await call.service.database.read(read)
    items = [release_entry(found[row.id], whole=writes) for row in page.rows if row.id in found]
    return ReleasePage(items, page.next_cursor, page.has_more)


@endpoint("GET", "/v1/versions/releases/{releaseId}", needs=READ, refusals=(NotFound,))
async def read_one_release(call: Call, release_id: ObjectId) -> ReleaseEntry:
    """One release; a draft is a 404 for those who may not write releases."""
    writes = call.user.access.allows(WRITE)
    release = await call.service.database.read(read_release, release_id)
    if release is None or (release.status == "draft" and not writes):
        raise NotFound("no such release")
    return release_entry(release, whole=writes)


@endpoint(
    "POST",
    "/v1/versions/releases",
    needs=WRITE,
    status=201,
    refusals=(NotFound, Invalid, Conflict, Forbidden, QuotaExceeded),
)
async def add_release(call: Call, body: ReleaseBody) -> ReleaseEntry:
    """Makes a release. Needs `versions:write`; a second one of a version is a 409."""
    if body.status == "published":
        _may_publish(call)
    release = Release(
        id=call.new_id(), scope=Scope(body.scope.type, body.scope.id), version=body.version,
        update_policy=body.update_policy, min_version=body.min_version, notes=with_line_feeds(body.notes),
        status=body.status, percentage=body.rollout.percentage,
        salt=next(random_hex(call.service.random_bytes, _SALT_BYTES)), created_by=call.user_id,
        created_at_ms=call.now_ms, published_at_ms=call.now_ms if body.status == "published" else None,
        artifacts=_artifacts(call, body.artifacts),
    )  # fmt: skip
    return await change(call, make_release, release, stamp_of(call), about=_SCOPES, shape=_whole)


async def known_release(call: Call, release_id: ObjectId) -> Release:
    """Guard: reads the release that is written to; checked again in the transaction.

    Raises:
        NotFound: there is no such release.
    """
    release = await call.service.database.read(read_release, release_id)
    if release is None:
        raise NotFound("no such release")
    return release


@endpoint(
    "PATCH",
    "/v1/versions/releases/{releaseId}",
    needs=WRITE,
    refusals=(NotFound, Invalid, Conflict, Forbidden),
    guard=known_release,
)
async def patch_release(call: Call, release_id: ObjectId, body: ReleasePatch) -> ReleaseEntry:
    """Changes a release.

    A draft may change in every way. A published one keeps its version and artifacts (409); `yanked` is for good, and a
    409 while a channel points to it. Needs `versions:write`; the audit trail records what is published or
    yanked, and each change of whom a published release is offered to, or who has to take it.
    """
    if body.status == "published":
        _may_publish(call)
    changes = ReleaseChanges(_changes(body), _changed_artifacts(call, body))
    return await change(
        call, change_release, release_id, changes, stamp_of(call), about=_SCOPES, shape=_whole
    )


@endpoint("DELETE", "/v1/versions/releases/{releaseId}", needs=WRITE, refusals=(NotFound, Conflict))
async def remove_release(call: Call, release_id: ObjectId) -> None:
    """Deletes a release; one that a channel points to is a 409."""
    await change(call, delete_release, release_id, stamp_of(call), about=_SCOPES)


_SCOPES = "releases"


def _may_publish(call: Call) -> None:
    if not call.user.access.allows(PUBLISH):
        raise Forbidden(f"missing permission {PUBLISH}", permission=PUBLISH)


def _whole(release: Release) -> ReleaseEntry:
    return release_entry(release, whole=True)


def _changes(body: ReleasePatch) -> dict[str, object]:
    asked = {
        "version": body.version, "update_policy": body.update_policy, "min_version": body.min_version,
        "status": body.status,
    }  # fmt: skip
    changes: dict[str, object] = {name: value for name, value in asked.items() if value is not msgspec.UNSET}
    if not isinstance(body.notes, msgspec.UnsetType):
        changes["notes"] = with_line_feeds(body.notes)
    if not isinstance(body.rollout, msgspec.UnsetType):
        changes["percentage"] = body.rollout.percentage
    return changes


def _changed_artifacts(call: Call, body: ReleasePatch) -> tuple[Artifact, ...] | None:
    return None if isinstance(body.artifacts, msgspec.UnsetType) else _artifacts(call, body.artifacts)


def _artifacts(call: Call, bodies: tuple[ArtifactBody, ...]) -> tuple[Artifact, ...]:
    drafts = [
        ArtifactDraft(**{name: getattr(body, name) for name in ArtifactDraft.__struct_fields__})
        for body in bodies
    ]
    return checked_artifacts(drafts, [call.new_id() for _ in drafts])
