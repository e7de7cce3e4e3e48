"""Parses requests with httptools, and adds the checks of RFC 9112 that it lacks.

httptools (llhttp, strict) refuses what smuggles requests past a proxy: Content-Length beside Transfer-Encoding,
repeated or unclear lengths, bad chunk sizes, bare LF and CR, folded lines, blanks before a colon, control characters.
The checks here refuse heads that are too large, too many fields, a missing or second Host, and malformed targets.

Invariants: `requests` holds what was parsed and not yet taken, in order. Once `refused` is set nothing more is parsed;
the requests before it are still to be answered. A request is in `requests` once its head is complete; its body grows.
"""

from collections import deque

import httptools

from routes.edge.errors import EdgeRefused
from routes.edge.outgoing import Headers
from routes.edge.server.request import Request, read_fields
from routes.edge.transport.refusals import BadRequest, HeadTooLarge, VersionNotSupported

MAX_FIELDS = 128
"""Header fields of one request; more is 431 (RFC 6585 §5)."""

PIPELINED = 16
"""Requests parsed ahead of the one that is being answered; then parsing pauses, and TCP holds the client back."""

AHEAD_BYTES = 64 * 1024
"""Bytes of those requests, of their heads and at most of their bodies, at which parsing pauses too."""

UNREAD_PIECES = 16
"""Pieces of a body, of up to 4 KiB, that wait for the application; beyond them reading pauses."""

_SLICE = 4096
"""Bytes parsed between two checks of `PIPELINED`."""

_VERSIONS = {"1.0", "1.1"}


class _Nobody:
    """The receiver of httptools' calls for a connection that takes no more requests; it has no callbacks."""


_SPENT = httptools.HttpRequestParser(_Nobody())
"""Stands in for the parser of such a connection; is never fed."""


class RequestParser:
    """Parses the requests of one connection.

    Args:
        max_head_bytes: bound of request line and headers, and of the trailers of a chunked body.

    Attributes:
        requests: the requests that were parsed and not taken yet.
        refused: the error after which nothing more is parsed, or None.
        early: the bytes after a WebSocket handshake, which are not HTTP; None before a handshake.
        in_head: whether a head has begun and is not complete.
    """

    __slots__ = (
        "_came_bytes",
        "_ended",
        "_field_bytes",
        "_fields",
        "_max_head_bytes",
        "_moves",
        "_parser",
        "_rest",
        "_target",
        "_unfinished",
        "early",
        "in_head",
        "refused",
        "requests",
    )

    def __init__(self, max_head_bytes: int) -> None:
        self._max_head_bytes = max_head_bytes
        self._parser = httptools.HttpRequestParser(self)
        self._rest = b""
        self._unfinished: Request | None = None
        self.requests: deque[Request] = deque()
        self.refused: EdgeRefused | None = None
        self.early: bytearray | None = None
        self.in_head = self._ended = False
        self._moves = 0
        self._begin()

    @property
    def waits(self) -> bool:
        """Whether parsing is paused, because enough requests were parsed ahead; some bytes are kept unparsed."""
        return bool(self._rest)

    @property
    def is_body_open(self) -> bool:
        """Whether more of a request's body is to come."""
        return self._unfinished is not None

    @property
    def unread_pieces(self) -> int:
        """How many pieces of that body were not taken yet."""
        return 0 if self._unfinished is None else len(self._unfinished.pieces)

    def feed(self, data: bytes | memoryview) -> None:
        """Parse bytes that have arrived; errors are put into `refused`.

        Args:
            data: the bytes, which are not kept.
        """
        for start in range(0, len(data), _SLICE):
            if self._keeps(data[start:]):
                return
            self._parse(data[start : start + _SLICE])

    def resume(self) -> None:
        """Continue a paused parsing, after a request was taken."""
        if self._rest and not self._is_far_ahead():
            rest, self._rest = self._rest, b""
            self.feed(rest)
            if self._ended:
                self.end()

    def part(self) -> None:
        """Take no more bytes, and drop httptools' parser, which would form a reference cycle with this one."""
        self._parser = _SPENT

    def end(self) -> None:
        """Refuse a request that is incomplete, because the client sends no more (RFC 9112 §8)."""
        self._ended = True
        if not self._rest and self.refused is None and (self.in_head or self._unfinished is not None):
            self._refuse(BadRequest("the request ends too early"))

    # -- parsing

    def _keeps(self, data: bytes | memoryview) -> bool:
        """Store or drop bytes that are not to be parsed now; False if they are to be parsed."""
        if self.refused is not None or self._parser is _SPENT:
            return True
        if self.early is not None:
            self.early += data
            return True
        if self._is_far_ahead():
            self._rest += bytes(data)
            return True
        return False

    def _is_far_ahead(self) -> bool:
        ahead = len(self.requests)
        return ahead >= PIPELINED or (ahead > 1 and sum(map(_held_bytes, self.requests)) >= AHEAD_BYTES)

    def _begin(self) -> None:
        self._moves += 1
        self._came_bytes = 0
        self._field_bytes = 0
        self._target = b""
        self._fields: Headers = []

    def _parse(self, data: bytes | memoryview) -> None:
        again = self._parse_once(data)
        while again:
            again = self._parse_once(again)

    def _parse_once(self, data: bytes | memoryview) -> bytes:
        """Returns bytes that have to be parsed once more."""
        # The beginning of a head counts as a move, but is no progress by itself.
        moves = self._moves + (not self.in_head and self._unfinished is None)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            return self._upgraded(bytes(data[upgrade.args[0] :]))
        except httptools.HttpParserCallbackError as error:
            self._refuse(error.__context__ if isinstance(error.__context__, EdgeRefused) else BadRequest())
        except httptools.HttpParserError:
            is_http2 = self._parser.get_method() == b"PRI"  # RFC 9113 §3.4
            self._refuse(VersionNotSupported() if is_http2 else BadRequest())
        else:
            if self._moves <= moves:
                self._stand_still(len(data))
        return b""

    def _stand_still(self, came_bytes: int) -> None:
        """Bound an incomplete line, which httptools buffers itself and reports only when it is complete."""
        self._came_bytes += came_bytes
        if self._came_bytes > self._max_head_bytes:
            self._refuse(HeadTooLarge())

    def _refuse(self, refused: EdgeRefused) -> None:
        self.refused = refused
        self._unfinished = None

    def _upgraded(self, behind: bytes) -> bytes:
        """Continue after a head with an Upgrade, where httptools stops; WebSocket is the only protocol that is
        accepted.
        """
        request = self.requests[-1]
        if request.websocket:
            self.early = bytearray(behind)
            return b""
        # RFC 9110 §7.8: an upgrade may be ignored. httptools took the request for bodiless, so a new parser reads the
        # head again, without that field.
        self.requests.pop()
        self._parser = httptools.HttpRequestParser(self)
        lines = [b"%b %b HTTP/%b" % (request.method.encode(), request.target, request.version.encode())]
        lines += [b"%b: %b" % field for field in request.headers if field[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", behind])

    def _check_size(self) -> None:
        if self._field_bytes > self._max_head_bytes or len(self._fields) > MAX_FIELDS:
            raise HeadTooLarge

    # -- called by httptools

    def on_message_begin(self) -> None:
        """A request line begins; called by httptools, like all below."""
        self._begin()
        self.in_head = True

    def on_url(self, piece: bytes) -> None:
        """Take a piece of the target."""
        self._target += piece
        self._field_bytes += len(piece)
        self._check_size()

    def on_header(self, name: bytes, text: bytes) -> None:
        """Take a header `name` with its value `text`. Trailers of a chunked body are counted and dropped (RFC 9112
        §7.1.2).
        """
        self._field_bytes += len(name) + len(text) + 4
        if self.in_head:
            self._fields.append((name.lower(), text.rstrip(b" \t")))
        self._check_size()

    def on_headers_complete(self) -> None:
        """Make a `Request` of the complete head. Raises VersionNotSupported, BadRequest or CodingUnknown."""
        self.in_head = False
        self._moves += 1
        head_bytes = self._field_bytes
        self._came_bytes = self._field_bytes = 0
        version = self._parser.get_http_version()
        if version not in _VERSIONS:
            raise VersionNotSupported
        method = self._parser.get_method().decode("ascii")
        authority, target = _split(method, self._target)
        request = Request(method, target, self._fields, version, head_bytes)
        read_fields(request, authority, upgrading=self._parser.should_upgrade())
        self._unfinished = request
        self.requests.append(request)

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        self._moves += 1
        self._came_bytes = 0
        if self._unfinished is not None:
            self._unfinished.pieces.append(piece)

    def on_message_complete(self) -> None:
        """The body is complete."""
        if self._unfinished is not None:
            self._unfinished.complete = True
            self._unfinished = None
        self._begin()


def _held_bytes(request: Request) -> int:
    return request.head_bytes + _SLICE * len(request.pieces)


def _split(method: str, target: bytes) -> tuple[bytes | None, bytes]:
    """The authority, if any, and the origin form of a request target (RFC 9112 §3.2)."""
    if method == "CONNECT":
        raise BadRequest("this is no proxy")  # RFC 9110 §9.3.6
    if not target.isascii() or b"#" in target:
        raise BadRequest("a request target is ASCII and has no fragment")
    if target.startswith(b"/"):
        return None, target
    if target == b"*" and method == "OPTIONS":
        return None, target
    scheme, found, rest = target.partition(b"://")
    if not found or scheme.lower() not in {b"http", b"https"}:
        raise BadRequest("the request target must be a path")
    end = min((at for at in (rest.find(b"/"), rest.find(b"?")) if at >= 0), default=len(rest))
    authority, path = rest[:end], rest[end:]
    if not authority:
        raise BadRequest("the request target has no host")
    return authority, path if path.startswith(b"/") else b"/" + path
