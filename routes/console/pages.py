"""The addresses of the console: its page, and the files that this loads. Nothing here is anybody's."""

from actors.errors import NotFound
from routes.call import Call
from routes.console.assets import ASSETS, FOREVER, FRESH
from routes.edge.declare.endpoint import endpoint
from routes.edge.documents import Document
from routes.edge.principal import PUBLIC
from routes.edge.reply import Page


@endpoint("GET", "/app", needs=PUBLIC, rate="operations", cacheable=FRESH, aliases=("/app/sign-in",))
def console_page(call: Call) -> Document[Page]:
    """The console. Its page is the same for everybody; who is signed in is found out by its scripts."""
    return call.service.of(ASSETS).page


@endpoint(
    "GET",
    "/app/assets/{digest}/{*path}",
    needs=PUBLIC,
    rate="operations",
    cacheable=FOREVER,
    produces="text/*",
    refusals=(NotFound,),
)
def console_file(call: Call, digest: str, path: str) -> Document[Page]:
    """A script, style sheet or picture of the console. Its address changes with its content, so that it can be kept
    for ever; an address of another release is a 404.
    """
    found = call.service.of(ASSETS).find(digest, path)
    if found is None:
        raise NotFound("there is no such file in this release")
    return found
