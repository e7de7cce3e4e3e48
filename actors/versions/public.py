"""What clients see of releases, artifacts and channels."""

import msgspec

from actors.ids import ObjectId
from actors.time import iso, iso_or_none
from persistence.versions.pointers import Activation, Pointer
from persistence.versions.releases import (
    Arch,
    Artifact,
    ArtifactKind,
    Platform,
    Release,
    ReleaseStatus,
    ScopeType,
    UpdatePolicy,
)


class ScopeEntry(msgspec.Struct, frozen=True):
    """The thing that a release is a version of: a launcher, service, runtime or extension, by its id.

    Args:
        type: the kind of program.
        id: the program's id, unique in its kind.
    """

    type: ScopeType
    id: str


class ArtifactEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A file of a release.

    Args:
        kind: `full` installs by itself, `delta` on top of `fromVersion`.
        from_version: the version that a delta is applied to; null for a whole file.
        url: the address of the file; null for a file that is hosted here, which is downloaded by its id.
        sha256, sha512: digests in lower-case hexadecimal; null where they are not known.
        signature: the Ed25519 signature of the file's bytes by the key `keyId`, in base64.
        hosted: whether its bytes are hosted here.
    """

    artifact_id: ObjectId
    platform: Platform
    arch: Arch
    kind: ArtifactKind
    from_version: str | None
    file_name: str
    url: str | None
    size_bytes: int
    sha256: str | None
    sha512: str | None
    signature: str | None
    key_id: str | None
    hosted: bool


class Rollout(msgspec.Struct, frozen=True):
    """How far a release is rolled out.

    Args:
        percentage: how many percent of all clients it reaches.
        salt: decides which clients are among the first; null for those who may not write releases.
    """

    percentage: int
    salt: str | None


class ReleaseEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A release.

    Args:
        version: SemVer 2.0.0.
        min_version: clients with an older version must update.
        notes: the release notes, Markdown as it was written.
        status: `draft` until it is published; `yanked` can no longer be activated.
        artifacts: its files.
        published_at: when it was published; null before.
        created_by: the user who has made it; null for the public, and once that user was erased.
    """

    release_id: ObjectId
    scope: ScopeEntry
    version: str
    update_policy: UpdatePolicy
    min_version: str | None
    notes: str
    status: ReleaseStatus
    rollout: Rollout
    artifacts: tuple[ArtifactEntry, ...]
    created_at: str
    published_at: str | None
    created_by: str | None


class ActivationEntry(msgspec.Struct, frozen=True, rename="camel"):
    """One revision of a channel; `activated_by` as in `PointerEntry`.

    Args:
        revision: the channel's revision, +1 with each activation.
        activated_by: as in `PointerEntry`.
    """

    revision: int
    release_id: str
    activated_by: str | None
    activated_at: str


class PointerEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A channel, and the release that it points to.

    Args:
        channel: the channel's name, such as `stable`.
        previous_release_id: the release that it pointed to before; null for the first one, or once that was deleted.
        revision: rises by one with each activation, also with going back.
        activated_by: the user who has activated it; null for those who may not write releases, and once that user was
            erased.
        history: the newest revisions, newest first; empty unless they were asked for.
    """

    scope: ScopeEntry
    channel: str
    release_id: ObjectId
    previous_release_id: str | None
    revision: int
    activated_by: str | None
    activated_at: str
    history: tuple[ActivationEntry, ...]


def artifact_entry(artifact: Artifact) -> ArtifactEntry:
    """An artifact as clients see it."""
    fields = {name: getattr(artifact, name) for name in Artifact.__struct_fields__ if name != "id"}
    return ArtifactEntry(artifact_id=ObjectId(artifact.id), **fields)


def release_entry(release: Release, *, whole: bool) -> ReleaseEntry:
    """A release as clients see it; `whole`: with its salt and who made it, for those who may write releases."""
    return ReleaseEntry(
        release_id=ObjectId(release.id), scope=ScopeEntry(release.scope.type, release.scope.id),
        version=release.version, update_policy=release.update_policy, min_version=release.min_version,
        notes=release.notes, status=release.status,
        rollout=Rollout(release.percentage, release.salt if whole else None),
        artifacts=tuple(map(artifact_entry, release.artifacts)), created_at=iso(release.created_at_ms),
        published_at=iso_or_none(release.published_at_ms), created_by=release.created_by if whole else None,
    )  # fmt: skip


def pointer_entry(pointer: Pointer, history: tuple[Activation, ...] = (), *, whole: bool) -> PointerEntry:
    """A channel as clients see it; `whole`: with who has activated it, for those who may write releases."""
    return PointerEntry(
        ScopeEntry(pointer.scope.type, pointer.scope.id),
        pointer.channel,
        ObjectId(pointer.release_id),
        pointer.previous_release_id,
        pointer.revision,
        pointer.activated_by if whole else None,
        iso(pointer.activated_at_ms),
        tuple(
            ActivationEntry(
                one.revision, one.release_id, one.activated_by if whole else None, iso(one.activated_at_ms)
            )
            for one in history
        ),
    )
