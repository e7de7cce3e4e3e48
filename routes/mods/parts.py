"""The part of mods: the clients of both catalogues, and what is kept of their answers."""

from urllib.parse import urlsplit

from routes.edge.outgoing_http import Upstream
from routes.edge.outgoing_redirects import Redirects
from routes.mods.library import ModLibrary
from routes.mods.source import MAX_BYTES, SECONDS, Source
from routes.part import Opening, Part

MODRINTH_HOST = "api.modrinth.com"
CURSEFORGE_HOST = "api.curseforge.com"


async def _open(opening: Opening) -> ModLibrary:
    config, clock = opening.config, opening.clock
    modrinth = await _upstream(opening, config.modrinth_url, MODRINTH_HOST)
    key = config.curseforge_key
    curseforge = None if key is None else await _upstream(opening, config.curseforge_url, CURSEFORGE_HOST)
    return ModLibrary(
        (
            Source("modrinth", modrinth, {}, clock, opening.nodes),
            Source("curseforge", curseforge, {} if key is None else {"x-api-key": key}, clock, opening.nodes),
        ),
        clock,
    )


async def _upstream(opening: Opening, base_url: str, host: str) -> Upstream:
    # Redirects may lead to the catalogue's known host, and to the configured host.
    hosts = frozenset({host, (urlsplit(base_url).hostname or host).lower()})
    upstream = Upstream(base_url, seconds=SECONDS, max_bytes=MAX_BYTES, redirects=Redirects(hosts=hosts))
    return await opening.stack.enter_async_context(upstream)


MODS = Part(name="catalogues of mods", open=_open)
"""Modrinth and CurseForge, with what is kept of their answers."""
