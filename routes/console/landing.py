"""The page at `/`: says what the installation is, lists public servers, and links to sign-in. It needs no scripts."""

import re
from collections.abc import Sequence
from html import escape
from urllib.parse import urlsplit

from actors.publications.public import Publication
from routes.console.languages import Words
from routes.console.static_files import STYLE_SHEET, StaticFiles

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

_MARK = re.compile(r"\{(\w+)\}")

SHOWN = 20
"""Most public servers on the page, those with most players first."""


def landing(
    static: StaticFiles, servers: Sequence[Publication], words: Words, *, base_url: str, version: str
) -> bytes:
    """The HTML of the page; every text of a publication is escaped.

    Args:
        static: all files of the console; `landing.html` is the frame.
        servers: the public servers to show.
        words: the words in the reader's language.
        base_url: the address of the service; its host is the name of the installation.
        version: the service's version, such as 2026.11.30.
    """
    host = escape(urlsplit(base_url).netloc)
    values = {
        "language": words.language,
        "assets": f"{static.address}/",
        "styles": f"{static.address}/{STYLE_SHEET}",
        "title": words.say("landing.title", host=host),
        "signIn": words.say("landing.signIn"),
        "about": words.say("landing.about", host=f"<strong>{host}</strong>"),
        "publicServers": words.say("landing.servers"),
        "servers": _list(servers, words),
        "interface": words.say("landing.interface"),
        "client": words.say("landing.client"),
        "version": escape(version),
    }
    # In one pass, so that a mark inside a publication's own text is not replaced.
    return _MARK.sub(lambda found: values[found[1]], static.contents["landing.html"].decode()).encode()


def _list(servers: Sequence[Publication], words: Words) -> str:
    if not servers:
        return f'<p class="empty">{words.say("landing.none")}</p>'
    return '<ul class="cards">' + "".join(_entry(server, words) for server in servers) + "</ul>"


def _entry(server: Publication, words: Words) -> str:
    if server.online:
        playing = words.say("landing.players", count=server.player_count)
        state = f'<span class="chip good">{playing}</span>'
    else:
        state = f'<span class="chip">{words.say("landing.offline")}</span>'
    motd = server.motd_override or server.motd
    return (
        f'<li><div class="grow"><p><bdi>{escape(server.display_name)}</bdi> <code>{escape(server.address)}</code></p>'
        f'<p class="dim" dir="auto">{escape(motd)}</p></div>{state}</li>'
    )
