"""From bytes to requests: httptools, and what RFC 9112 wants beyond what it checks.

httptools (llhttp, strict) refuses what smuggles requests past a proxy: Content-Length beside Transfer-Encoding,
repeated or unclear lengths, bad chunk sizes, bare LF and CR, folded lines, blanks before a colon, control characters.
Here the rest is refused: what is too large or too many, a missing or second Host, targets that are none.

Invariants: `requests` holds what was parsed and not yet taken, in order. After `refused` nothing is parsed any more;
the requests before it are still to be answered. A request is in `requests` from the end of its head on, and grows.
"""

from collections import deque
from string import ascii_letters, digits
from urllib.parse import unquote_to_bytes

import httptools

from routes.edge.errors import EdgeRefused
from routes.edge.outgoing import Headers
from routes.edge.transport.refusals import BadRequest, CodingUnknown, HeadTooLarge, VersionNotSupported

MAX_FIELDS = 128
"""Header fields of one request; more is 431 (RFC 6585 §5)."""

PIPELINED = 16
"""Requests parsed ahead of the one that is being answered; then parsing waits, and TCP holds the client back."""

AHEAD_PIECES = 16
"""Pieces, of up to 4 KiB, of the bodies of those requests; likewise."""

_SLICE = 4096
"""Bytes parsed between two looks at `PIPELINED`."""

_VERSIONS = {"1.0", "1.1"}

_HOST_BYTES = ascii_letters.encode() + digits.encode() + b"-._~%!$&'()*+;=:[]"
"""What a host and its port are made of (RFC 3986 §3.2.2). A comma would be two hosts in one line."""


class Request:
    """One request, from the end of its head on.

    Attributes:
        method: upper case.
        target: path and query as they came, without an authority.
        path, query: of the target; the path is decoded.
        headers: (lower-case name, value).
        version: `1.0` or `1.1`.
        persistent: the client wants the connection to stay.
        pieces: of the body, not yet taken.
        body_told: the end of the body has been told to the application.
        complete: all of the body has come.
        expects_continue: the client waits for a 100 before it sends the body (RFC 9110 §10.1.1).
        websocket: this is a handshake.
    """

    __slots__ = (
        "body_told",
        "complete",
        "expects_continue",
        "headers",
        "method",
        "path",
        "persistent",
        "pieces",
        "query",
        "target",
        "version",
        "websocket",
    )

    def __init__(self, method: str, target: bytes, headers: Headers, version: str) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        self.version = version
        path, _, self.query = target.partition(b"?")
        self.path = (unquote_to_bytes(path) if b"%" in path else path).decode("utf-8", "replace")
        self.pieces: list[bytes] = []
        self.complete = False
        self.body_told = False
        self.persistent = version == "1.1"
        self.expects_continue = False
        self.websocket = False

    def take_body(self) -> bytes:
        """What has come of the body and was not yet taken."""
        pieces = self.pieces
        if not pieces:
            return b""
        self.pieces = []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class RequestParser:
    """Parses what comes on one connection.

    Args:
        max_head_bytes: of request line and header fields, and of the fields behind a chunked body.

    Attributes:
        requests: parsed, not yet taken.
        refused: why nothing more is parsed, or None.
        early: bytes behind a WebSocket handshake; from there on nothing is HTTP.
        in_head: a head has begun and is not complete.
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
        """Enough requests are parsed ahead; some bytes are kept unparsed."""
        return bool(self._rest)

    @property
    def is_body_open(self) -> bool:
        """More of a request's body is to come."""
        return self._unfinished is not None

    @property
    def unread_pieces(self) -> int:
        """Pieces of that body that were not yet taken."""
        return 0 if self._unfinished is None else len(self._unfinished.pieces)

    def feed(self, data: bytes | memoryview) -> None:
        """Parse what came.

        Args:
            data: not kept.
        """
        for start in range(0, len(data), _SLICE):
            if self._keeps(data[start:]):
                return
            self._parse(data[start : start + _SLICE])

    def resume(self) -> None:
        """Parse what was kept, now that a request has been taken."""
        if self._rest and not self._is_far_ahead():
            rest, self._rest = self._rest, b""
            self.feed(rest)
            if self._ended:
                self.end()

    def end(self) -> None:
        """Nothing more will come: what is not whole never will be (RFC 9112 §8)."""
        self._ended = True
        if not self._rest and self.refused is None and (self.in_head or self._unfinished is not None):
            self._refuse(BadRequest("the request ends too early"))

    # -- inside

    def _keeps(self, data: bytes | memoryview) -> bool:
        """Whether this is not to be parsed, or not yet; then it is kept where it will be wanted."""
        if self.refused is not None:
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
        return ahead >= PIPELINED or (
            ahead > 1 and sum(len(request.pieces) for request in self.requests) >= AHEAD_PIECES
        )

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
        """Returns what is to be parsed once more."""
        # A head that begins with this data moves the parser once, and none of the data is anything else.
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
        """A line that is not complete stays inside httptools, and is seen only by what has come of it."""
        self._came_bytes += came_bytes
        if self._came_bytes > self._max_head_bytes:
            self._refuse(HeadTooLarge())

    def _refuse(self, refused: EdgeRefused) -> None:
        self.refused = refused
        self._unfinished = None

    def _upgraded(self, behind: bytes) -> bytes:
        """The parser stops behind every head that asks for another protocol; WebSocket is the one we speak."""
        request = self.requests[-1]
        if request.websocket:
            self.early = bytearray(behind)
            return b""
        # RFC 9110 §7.8: an upgrade may be ignored. The parser took the request for bodiless, so it reads the head once
        # more, without that field.
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
        """A request line begins."""
        self._begin()
        self.in_head = True

    def on_url(self, piece: bytes) -> None:
        """A piece of the target."""
        self._target += piece
        self._field_bytes += len(piece)
        self._check_size()

    def on_header(self, name: bytes, text: bytes) -> None:
        """A header field, or one behind a chunked body, which is counted and dropped (RFC 9112 §7.1.2).

        Args:
            name: as it came.
            text: the value, as it came.
        """
        self._field_bytes += len(name) + len(text) + 4
        if self.in_head:
            self._fields.append((name.lower(), text.rstrip(b" \t")))
        self._check_size()

    def on_headers_complete(self) -> None:
        """The head is whole.

        Raises:
            VersionNotSupported: it is not HTTP/1.0 or 1.1.
        """
        self.in_head = False
        self._moves += 1
        self._came_bytes = self._field_bytes = 0
        version = self._parser.get_http_version()
        if version not in _VERSIONS:
            raise VersionNotSupported
        method = self._parser.get_method().decode("ascii")
        authority, target = _split(method, self._target)
        request = Request(method, target, self._fields, version)
        _read_fields(request, authority, upgrading=self._parser.should_upgrade())
        self._unfinished = request
        self.requests.append(request)

    def on_body(self, piece: bytes) -> None:
        """A piece of the body."""
        self._moves += 1
        self._came_bytes = 0
        if self._unfinished is not None:
            self._unfinished.pieces.append(piece)

    def on_message_complete(self) -> None:
        """The body is whole."""
        if self._unfinished is not None:
            self._unfinished.complete = True
            self._unfinished = None
        self._begin()


def _split(method: str, target: bytes) -> tuple[bytes | None, bytes]:
    """Authority, if any, and origin form of a request target (RFC 9112 §3.2)."""
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


def _host(text: bytes) -> bytes:
    """The same, if it can be one (RFC 9112 §3.2)."""
    if text.translate(None, _HOST_BYTES):
        raise BadRequest("this is no host")
    return text


def _check_coding(text: bytes, version: str, *, repeated: bool) -> None:
    """RFC 9112 §6.1; httptools looks at the last of several lines only."""
    if version != "1.1" or repeated:
        raise BadRequest("a body is chunked once, and never in HTTP/1.0")
    if text.lower() != b"chunked":
        raise CodingUnknown


def _read_fields(request: Request, authority: bytes | None, *, upgrading: bool) -> None:
    """Take out of the header fields what concerns the connection; `upgrading`: the parser stops behind this head."""
    hosts = 0
    upgrade, tokens, has_body, coded = b"", b"", False, False
    for number, (name, text) in enumerate(request.headers):
        if name == b"host":
            hosts += 1
            # RFC 9112 §3.2.2: the target's authority counts, whatever Host says.
            request.headers[number] = (name, _host(authority or text))
        elif name == b"connection":
            tokens += b"," + text.lower()
        elif name == b"upgrade":
            upgrade = text.lower()
        elif name == b"expect":
            request.expects_continue = text.lower() == b"100-continue" and request.version == "1.1"
        elif name == b"content-length":
            has_body = text.strip(b"0") != b""
        elif name == b"transfer-encoding":
            _check_coding(text, request.version, repeated=coded)
            coded = has_body = True
    if hosts != 1 and (hosts > 1 or request.version == "1.1"):
        raise BadRequest("a request has exactly one Host")  # RFC 9112 §3.2
    if tokens:
        named = {token.strip() for token in tokens.split(b",")}
        request.persistent = b"close" not in named and (request.persistent or b"keep-alive" in named)
        request.websocket = upgrading and upgrade == b"websocket" and request.method == "GET" and not has_body
