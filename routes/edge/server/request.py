"""One request whose head is complete, and what its header fields mean for the connection."""

from string import ascii_letters, digits
from urllib.parse import unquote_to_bytes

from routes.edge.outgoing import Headers
from routes.edge.transport.refusals import BadRequest, CodingUnknown

_HOST_BYTES = ascii_letters.encode() + digits.encode() + b"-._~%!$&'()*+;=:[]"
"""Characters of a host and its port (RFC 3986 §3.2.2). Without the comma, which would join two hosts in one line."""


class Request:
    """One request whose head is complete.

    Attributes:
        method: the HTTP method, upper case.
        target: path and query as they came, without an authority.
        path, query: the two parts of the target; the path is decoded.
        headers: (lower-case name, value).
        version: `1.0` or `1.1`.
        head_bytes: how many bytes target and header lines had, as they came.
        persistent: whether the client wants to keep the connection.
        pieces: the pieces of the body that were not taken yet.
        body_told: whether the application has been sent the end of the body.
        complete: whether the whole body has arrived.
        expects_continue: whether the client waits for a 100 before it sends the body (RFC 9110 §10.1.1).
        websocket: whether this is a WebSocket handshake.
    """

    __slots__ = (
        "body_told",
        "complete",
        "expects_continue",
        "head_bytes",
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

    def __init__(self, method: str, target: bytes, headers: Headers, version: str, head_bytes: int) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        self.version = version
        self.head_bytes = head_bytes
        path, _, self.query = target.partition(b"?")
        self.path = (unquote_to_bytes(path) if b"%" in path else path).decode("utf-8", "replace")
        self.pieces: list[bytes] = []
        self.complete = False
        self.body_told = False
        self.persistent = version == "1.1"
        self.expects_continue = False
        self.websocket = False

    def take_body(self) -> bytes:
        """Take what has arrived of the body since the last call."""
        pieces = self.pieces
        if not pieces:
            return b""
        self.pieces = []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_fields(request: Request, authority: bytes | None, *, upgrading: bool) -> None:
    """Evaluate the headers that concern the connection.

    Args:
        request: the request, whose head is complete.
        authority: the authority in its target; None where the target is a path.
        upgrading: whether httptools stops after this head because of an Upgrade.

    Raises:
        BadRequest: there is not exactly one Host, or a coding is said twice (RFC 9112 §3.2, §6.1).
    """
    hosts = 0
    upgrade, tokens, has_body, coded = b"", b"", False, False
    for number, (name, text) in enumerate(request.headers):
        if name == b"host":
            hosts += 1
            # RFC 9112 §3.2.2: the target's authority replaces Host.
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


def _host(text: bytes) -> bytes:
    """A Host as it came, if its characters are valid (RFC 9112 §3.2)."""
    if text.translate(None, _HOST_BYTES):
        raise BadRequest("this is no host")
    return text


def _check_coding(text: bytes, version: str, *, repeated: bool) -> None:
    """Refuse transfer codings other than one `chunked` (RFC 9112 §6.1); httptools checks only the last of several
    lines.
    """
    if version != "1.1" or repeated:
        raise BadRequest("a body is chunked once, and never in HTTP/1.0")
    if text.lower() != b"chunked":
        raise CodingUnknown
