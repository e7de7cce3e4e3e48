"""Turns a handler's result into a response."""

import trio

from actors.errors import NotFound
from routes.edge.declare.route import Endpoint
from routes.edge.documents import Document
from routes.edge.downloads import blob_response, with_etag
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.parts import Parts
from routes.edge.reply import Blob, Finished, Page, Redirect, Reply
from routes.edge.stored import Stored
from routes.edge.wire import encode

JSON_HEADER = (b"content-type", b"application/json")


async def render(call: Call[Parts], endpoint: Endpoint, incoming: Incoming, result: object) -> Outgoing:
    """The response for a handler's result, without the headers that every response has.

    Waits for nothing but the size of a file; cancellation leaves nothing behind.

    Args:
        call: the request's call.
        endpoint: the declared endpoint.
        incoming: the request; conditional headers and Range are read.
        result: a struct, `Encoded`, `Reply`, `Blob`, `Redirect`, `Page`, `Document`, `Stored` or None.

    Raises:
        NotFound: a file was removed after it was looked up.
        RangeNotSatisfiable: the requested range of a file lies outside it.
        TypeError: the result has no form on the wire.
    """
    status = call.status
    headers: Headers = []
    if isinstance(result, Reply):
        status = result.status or status
        headers = [(name.encode("ascii"), text.encode("latin-1")) for name, text in result.headers.items()]
        headers += [(b"set-cookie", cookie.encode("ascii")) for cookie in result.cookies]
        result = result.value
    if result is None:
        return Outgoing(204, headers)
    if isinstance(result, Finished):
        if isinstance(result, Document | Stored):
            return result.response(incoming)
        if isinstance(result, Redirect):
            location = (b"location", result.location.encode("ascii"))
            return Outgoing(302, [location, (b"cache-control", b"no-store"), *headers])
        if isinstance(result, Blob):
            return await _blob(call, incoming, result, headers)
        if not isinstance(result, Page):
            raise TypeError(f"{type(result).__name__} is not rendered")
        outgoing = Outgoing(status, headers + page_headers(result.content_type, result.policy), result.html)
    else:
        outgoing = Outgoing(status, [JSON_HEADER, *headers], encode(result))
    return outgoing if endpoint.cacheable is None else with_etag(outgoing, incoming, endpoint.cacheable)


async def _blob(call: Call[Parts], incoming: Incoming, blob: Blob, headers: Headers) -> Outgoing:
    content = blob.content
    if isinstance(content, bytes):
        size_bytes = len(content)
    else:
        call.deadline.begin()
        try:
            size_bytes = (await trio.Path(content).stat()).st_size
        except FileNotFoundError:
            raise NotFound from None  # removed since it was looked up
    outgoing = blob_response(blob, incoming, size_bytes)
    outgoing.headers.extend(headers)
    return outgoing


def page_headers(content_type: str, policy: str) -> Headers:
    """The headers of content that a browser may show.

    Args:
        content_type: its media type.
        policy: Content-Security-Policy.
    """
    return [
        (b"content-type", content_type.encode("ascii")),
        (b"content-security-policy", policy.encode("ascii")),
        (b"referrer-policy", b"no-referrer"),
        (b"x-frame-options", b"DENY"),
    ]
