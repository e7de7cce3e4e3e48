"""Files of releases (contract §10)."""

import msgspec

from actors.bounds import IdText
from actors.errors import NotFound
from actors.ids import parse_object_id
from persistence.versions.releases import release_of_artifact
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import BadQuery
from routes.edge.principal import PUBLIC
from routes.edge.reply import Blob, Redirect
from routes.versions.content import file_of
from routes.versions.resolve import ResolveQuery, resolved_for


class DownloadQuery(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Which file: `artifactId`, or all that `/v1/public/versions/resolve` must be asked.

    Args:
        channel: the channel that the client follows.
        version: the version that it has, by SemVer 2.0.0.
        client_id: as for `resolve`.
        delta: whether it can apply a delta.
    """

    artifact_id: IdText | None = None
    scope_type: IdText | None = None
    scope_id: IdText | None = None
    channel: IdText | None = None
    platform: IdText | None = None
    arch: IdText | None = None
    version: IdText | None = None
    client_id: IdText | None = None
    delta: bool = False


@endpoint("GET", "/v1/public/versions/download", needs=PUBLIC, refusals=(NotFound,))
async def download_artifact(call: Call, query: DownloadQuery) -> Blob | Redirect:
    """A file of a published release: its bytes, or a 302 to where they lie.

    Named by `artifactId`, or found as `/v1/public/versions/resolve` does; nothing to install is a 404, and so are files
    of drafts and yanked releases.
    """
    if query.artifact_id is None:
        resolved = await resolved_for(call, _resolve_query_of(query))
        if resolved.artifact is None or resolved.target is None:
            raise NotFound("there is nothing to install")
        return file_of(call.service, resolved.artifact)
    id = parse_object_id(query.artifact_id)
    release = None if id is None else await call.service.database.read(release_of_artifact, id)
    if release is None or release.status != "published":
        raise NotFound("no such artifact")
    return file_of(call.service, next(one for one in release.artifacts if one.id == id))


def _resolve_query_of(query: DownloadQuery) -> ResolveQuery:
    asked = {name: value for name, value in msgspec.to_builtins(query).items() if value is not None}
    try:
        return msgspec.convert(asked, ResolveQuery)
    except msgspec.ValidationError:
        raise BadQuery("name an artifactId, or all that a resolve is asked") from None
