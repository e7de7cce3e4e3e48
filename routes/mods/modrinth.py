"""Modrinth, passed on (contract §10)."""

from actors.errors import NotFound
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import BadQuery, UpstreamUnavailable
from routes.edge.principal import PUBLIC
from routes.edge.stored import Stored
from routes.mods.modrinth_requests import ModrinthQuery, modrinth_request
from routes.mods.showing import KEPT, JsonDocument, passed_on


@endpoint(
    "GET",
    "/v1/public/modrinth/{*path}",
    needs=PUBLIC,
    cacheable=KEPT,
    refusals=(NotFound, BadQuery, UpstreamUnavailable),
)
async def read_modrinth(call: Call, path: str, query: ModrinthQuery) -> Stored[JsonDocument]:
    """What Modrinth (API v2) answers, as it answers it.

    Passed on are `search`, `tag/{category,loader,game_version,project_type}`, `project/{id}` (and `/version`,
    `/dependencies`, `/members` below it), `projects?ids=`, `version/{id}`, `versions?ids=` and
    `version_file/{sha1 or sha512}`, with the query parameters listed here; any other path is a 404.

    Answers are kept for 60 seconds (`search`), a day (`tag`) or 300 seconds; `Age` says how old one is. While Modrinth
    is away, an answer that has expired less than a day ago is shown, with an `Age` beyond its `max-age`; without one, a
    503 whose `meta.upstreamStatus` is what Modrinth has answered, or null.
    """
    return await passed_on(call, modrinth_request(path, query))
