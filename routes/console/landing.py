"""The page at `/`: what this is, which servers are public, and the ways in. It needs no scripts."""

import re
from collections.abc import Sequence
from html import escape
from urllib.parse import urlsplit

from actors.publications.public import Publication
from routes.console.static_files import STYLE_SHEET, StaticFiles

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

_MARK = re.compile(r"\{(\w+)\}")

SHOWN = 20
"""Public servers on the page, most players first."""


def landing(static: StaticFiles, servers: Sequence[Publication], *, base_url: str, version: str) -> bytes:
    """The page; every text of a publication is escaped.

    Args:
        static: all files; `landing.html` is the frame.
        servers: those that are shown.
        base_url: the address of the service; its host is the name of the installation.
        version: of the service.
    """
    values = {
        "assets": f"{static.address}/",
        "styles": f"{static.address}/{STYLE_SHEET}",
        "host": escape(urlsplit(base_url).netloc),
        "version": escape(version),
        "servers": _list(servers),
    }
    # In one pass, so that a mark within a text of somebody's is left alone.
    return _MARK.sub(lambda found: values[found[1]], static.contents["landing.html"].decode()).encode()


def _list(servers: Sequence[Publication]) -> str:
    if not servers:
        return '<p class="empty">No public servers yet.</p>'
    return '<ul class="cards">' + "".join(map(_entry, servers)) + "</ul>"


def _entry(server: Publication) -> str:
    playing = "1 player" if server.player_count == 1 else f"{server.player_count} players"
    state = (
        f'<span class="chip good">{playing}</span>' if server.online else '<span class="chip">offline</span>'
    )
    motd = server.motd_override or server.motd
    return (
        f'<li><div class="grow"><p><bdi>{escape(server.display_name)}</bdi> <code>{escape(server.address)}</code></p>'
        f'<p class="dim" dir="auto">{escape(motd)}</p></div>{state}</li>'
    )
