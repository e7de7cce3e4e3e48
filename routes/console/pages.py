"""The routes of the console: the landing page, the one document, its files, and the client for other programs.

Everything is served from memory, compressed beforehand. With `PARTYLINE_CONSOLE_SOURCE` the files are read from that
folder on each request instead, so that a change shows after a reload.
"""

from collections.abc import Callable

import trio

from actors.errors import NotFound
from actors.publications.public import publication_of
from persistence.publications import listing
from persistence.publications.listing import Wanted
from routes.call import Call
from routes.console.document import HTML, asset_headers, document, document_headers
from routes.console.landing import POLICY, SHOWN, landing
from routes.console.languages import words_for
from routes.console.parts import STATIC_FILES
from routes.console.static_files import ROOT, StaticFiles, read_static_files
from routes.edge.declare.endpoint import endpoint
from routes.edge.docs.version import VERSION
from routes.edge.documents import Document
from routes.edge.principal import PUBLIC
from routes.edge.reply import Page, Reply
from routes.publications.parts import STATUSES
from routes.rates import PAGES

IMMUTABLE = "public, max-age=31536000, immutable"
"""Cache-Control of a file whose address changes with its content (RFC 8246)."""

REVALIDATED = "no-cache"
"""Cache-Control of files that keep their address: requested each time, and mostly answered by a 304."""

LISTED = "public, max-age=5"
"""Cache-Control of the landing page; short, since it shows who plays now."""

CLIENT = "client/"
"""The folder of the client for other programs."""


@endpoint("GET", "/", needs=PUBLIC, rate=PAGES, cacheable=LISTED)
async def read_landing_page(call: Call) -> Reply[Page]:
    """Shows what this installation is, its public servers with most players, and the ways in; needs no scripts.

    In the language that `Accept-Language` wants most, of those that the console has.
    """
    static = await _static(call)
    found = await call.service.database.read(listing.page, Wanted("", None, None), "players", None, SHOWN)
    statuses = call.service.of(STATUSES)
    servers = [publication_of(one.row, statuses.of(one.row.target, call.now_ms)) for one in found]
    config = call.service.config
    words = words_for(static, call.header(b"accept-language"))
    page = landing(static, servers, words, base_url=config.base_url, version=VERSION)
    return Reply(Page(page, POLICY, HTML), headers={"vary": "Accept-Language"})


@endpoint("GET", "/app", needs=PUBLIC, rate=PAGES)
async def read_console(call: Call) -> Document[Page]:
    """The console: one document, whose scripts show the page of the address."""
    return await _document(call)


@endpoint("GET", "/app/{*path}", needs=PUBLIC, rate=PAGES)
async def read_console_page(call: Call, path: str) -> Document[Page]:  # noqa: ARG001 - its scripts read the address
    """A page of the console: the same document as `/app`."""
    return await _document(call)


@endpoint("GET", "/setup", needs=PUBLIC, rate=PAGES)
async def read_setup_page(call: Call) -> Document[Page]:
    """The page behind the setup link, which posts to `/v1/setup`: the same document as `/app`."""
    return await _document(call)


@endpoint("GET", ROOT + "/{digest}/{*path}", needs=PUBLIC, rate=PAGES, produces="*/*")
async def read_console_file(call: Call, digest: str, path: str) -> Document[Page]:
    """A script, style sheet, picture or text of the console; a former digest is a 404."""
    static = await _static(call)
    if digest != static.digest:
        raise NotFound
    return await _file(call, static, path, IMMUTABLE)


@endpoint("GET", "/favicon.ico", needs=PUBLIC, rate=PAGES, produces="image/svg+xml")
async def read_icon(call: Call) -> Document[Page]:
    """The mark of the service, for what browsers ask for by themselves beside any of its addresses."""
    return await _file(call, await _static(call), "mark.svg", REVALIDATED)


@endpoint("GET", "/client/{*path}", needs=PUBLIC, rate=PAGES, produces="text/*")
async def read_client(call: Call, path: str) -> Document[Page]:
    """The client for browsers and Node, `/client/partyline.js`, and the modules that it imports."""
    static = await _static(call)
    return await _file(call, static, CLIENT + path, REVALIDATED)


async def _static(call: Call) -> StaticFiles:
    static = call.service.of(STATIC_FILES)
    folder = call.service.config.console_source
    return static if folder is None else await trio.to_thread.run_sync(read_static_files, folder)


async def _document(call: Call) -> Document[Page]:
    static = await _static(call)

    def make() -> Document[Page]:
        headers = document_headers(static, call.service.config.base_url)
        return Document(document(static), headers, REVALIDATED)

    return await _kept_document(call, f"console {static.digest}", make)


async def _file(call: Call, static: StaticFiles, path: str, cache_control: str) -> Document[Page]:
    media_type = static.media_type(path)
    if media_type is None:
        raise NotFound
    return await _kept_document(
        call,
        f"console {static.digest} {path} {cache_control}",
        lambda: Document(static.contents[path], asset_headers(media_type), cache_control),
    )


async def _kept_document(call: Call, name: str, make: Callable[[], Document[Page]]) -> Document[Page]:
    if call.service.config.console_source is not None:
        return make()
    found = call.service.documents.get(name, make)
    return found if isinstance(found, Document) else await found
