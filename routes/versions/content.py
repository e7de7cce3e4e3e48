"""The bytes of artifacts: publishers upload them, and clients download them (contract §10)."""

from actors.errors import Conflict, Invalid, NotFound, Overloaded
from actors.ids import ObjectId
from actors.versions.hosting import named_by
from actors.versions.public import ArtifactEntry, artifact_entry
from actors.versions.units_content import keep_content, open_artifact
from persistence.versions.releases import Artifact
from routes.call import Call
from routes.changes import change
from routes.edge.body_pieces import BodyPieces
from routes.edge.declare.endpoint import endpoint
from routes.edge.reply import Blob, Redirect
from routes.service import Service
from routes.versions.hosted import HOSTED_FILES
from routes.versions.releases import WRITE, known_release

KEPT = "public, max-age=60"
"""Cache-Control of bytes: what is yanked is gone from caches within a minute; an ETag makes asking again cheap."""


async def known_artifact(call: Call, release_id: ObjectId, artifact_id: ObjectId) -> None:
    """Guard: requires that the release has such an artifact; what state they are in is looked at once there is a body.

    Raises:
        NotFound: there is no such release, or it has no such artifact.
    """
    release = await known_release(call, release_id)
    if all(artifact.id != artifact_id for artifact in release.artifacts):
        raise NotFound("no such artifact")


@endpoint(
    "PUT",
    "/v1/versions/releases/{releaseId}/artifacts/{artifactId}/content",
    needs=WRITE,
    max_bytes=lambda config: config.artifact_max_bytes,
    refusals=(NotFound, Conflict, Invalid, Overloaded),
    guard=known_artifact,
)
async def put_artifact_content(
    call: Call, release_id: ObjectId, artifact_id: ObjectId, body: BodyPieces
) -> ArtifactEntry:
    """The bytes of an artifact of a draft.

    Needs `versions:write`. The body is read as it comes; its length, its SHA-256 and, where the service knows
    publishers' keys, its Ed25519 signature have to be those of the artifact (422 `MISMATCH`). At most
    `PARTYLINE_ARTIFACT_MAX_BYTES` (413). One file is put at a time: during another one the answer is a 503
    `OVERLOADED`. The same bytes may be put again. An artifact that has an address, or whose release is published, is a
    409.
    """
    service = call.service
    named = named_by(await service.database.read(open_artifact, release_id, artifact_id))
    hosted = await service.of(HOSTED_FILES).receive(named, body, wait_longer=call.wait_longer)
    return await change(
        call, keep_content, release_id, artifact_id, named, hosted, about=None, shape=artifact_entry
    )


def file_of(service: Service, artifact: Artifact) -> Blob | Redirect:
    """The bytes of an artifact of a published release, or a redirect to them.

    Args:
        service: the service that has the files.
        artifact: an artifact of a published release.

    Raises:
        NotFound: it has neither bytes nor an address.
    """
    if artifact.hosted and artifact.sha256 is not None:
        return Blob(
            content=service.of(HOSTED_FILES).blobs.path(bytes.fromhex(artifact.sha256)),
            content_type="application/octet-stream",
            filename=artifact.file_name,
            etag=artifact.sha256,
            cache_control=KEPT,
        )
    if artifact.url is None:
        raise NotFound("the bytes of this artifact are not here")
    return Redirect(artifact.url)
