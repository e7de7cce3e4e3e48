"""Store the bytes of artifacts, and sweep files that none has any more: units of work, and what is made of them."""

from functools import partial

import msgspec

from actors.errors import Conflict, NotFound
from actors.in_thread import InThread
from actors.kernel.store import Store
from actors.versions.hosting import Hosted, Named, check_hash, check_size, named_by
from persistence.blobs import Blobs
from persistence.connection import Connection
from persistence.versions import content, releases
from persistence.versions.releases import Artifact, Release

UNNAMED_SECONDS = 3600
"""Age from which a file that no artifact has is a remnant: of a deleted release, or of an upload that was not kept."""

_AT_ONCE = 500


async def open_artifact(conn: Connection, release_id: str, artifact_id: str) -> Artifact:
    """The artifact whose bytes are to be put.

    Raises:
        NotFound: there is no such release, or it has no such artifact.
        Conflict: the release is no draft any more, or the bytes lie at the artifact's address.
    """
    return _open(await releases.read_release(conn, release_id), artifact_id)


async def keep_content(
    conn: Connection, release_id: str, artifact_id: str, checked: Named, hosted: Hosted
) -> Artifact:
    """Store that the bytes of an artifact are hosted; the same bytes again change nothing. There is no event, because
    memory holds no drafts.

    Args:
        release_id, artifact_id: the release, and its artifact.
        checked: what the release said of the bytes when their signature was checked.
        hosted: the length and digests of the stored bytes.

    Returns:
        The artifact as it is now.

    Raises:
        NotFound, Conflict: as `open_artifact`; and Conflict when the artifact was changed while the bytes came.
        Invalid: the artifact's length or hash was changed meanwhile.
    """
    artifact = _open(await releases.lock_release(conn, release_id), artifact_id)
    now = named_by(artifact)
    check_size(now, hosted.size_bytes)
    check_hash(now, hosted.sha256)
    if (now.signature, now.key_id) != (checked.signature, checked.key_id):
        raise Conflict("the artifact was changed while its bytes came", status="draft")
    sha256, sha512 = hosted.sha256.hex(), hosted.sha512.hex()
    await content.put(conn, artifact.id, sha256=sha256, sha512=sha512)
    return msgspec.structs.replace(artifact, hosted=True, sha256=sha256, sha512=sha512)


async def sweep(database: Store, blobs: Blobs, in_thread: InThread, *, now_ms: int) -> int:
    """Remove files that no artifact has had for an hour, and what is left of uploads that a crash has cut.

    Cancellation leaves nothing half-done.

    Returns:
        How many files were removed.
    """
    before_seconds = now_ms / 1000 - UNNAMED_SECONDS
    old = sorted(await in_thread(lambda: set(blobs.older_than(before_seconds))))
    removed = 0
    for start in range(0, len(old), _AT_ONCE):
        some = old[start : start + _AT_ONCE]
        needed = await database.read(content.needed, [digest.hex() for digest in some])
        unnamed = {digest for digest in some if digest.hex() not in needed}
        removed += len(await in_thread(partial(blobs.drop, unnamed, before_seconds=before_seconds)))
    return removed


def _open(release: Release | None, artifact_id: str) -> Artifact:
    if release is None:
        raise NotFound("no such release")
    artifact = next((one for one in release.artifacts if one.id == artifact_id), None)
    if artifact is None:
        raise NotFound("no such artifact")
    if release.status != "draft":
        raise Conflict("what is published does not change", status=release.status)
    if artifact.url is not None:
        raise Conflict("the bytes of this artifact lie at its address", status=release.status)
    return artifact
