"""The most expensive requests of 256 KB that need no credentials: `{what it is: the bytes of the request}`."""

from collections.abc import Callable

BODY_BYTES = 256 * 1024
HEAD_BYTES = 16 * 1024


def hostile_bodies(size_bytes: int = BODY_BYTES) -> dict[str, bytes]:
    """JSON, or what begins like it, that asks a careless reader for more than its size.

    Args:
        size_bytes: about how long each is.
    """
    pieces: dict[str, tuple[bytes, bytes, bytes]] = {  # what: (beginning, again and again, end)
        "escaped quotes in a text without an end": (b"[" + b"[]," * 33 + b'"', b'\\"', b""),
        "quotes": (b"[", b'"', b""),
        "backslashes": (b'["', b"\\", b""),
        "brackets that open": (b"", b"[", b""),
        "objects that open": (b"", b'{"a":', b""),
        "brackets side by side": (b"[", b"[],", b"0]"),
        "deep brackets side by side": (b"[", b"[" * 30 + b"]" * 30 + b",", b"0]"),
        "closing brackets": (b"[", b"]", b""),
        "one long number": (b"[", b"9", b"]"),
        "long exponents": (b"[", b"1e" + b"9" * 300 + b",", b"0]"),
        "numbers of 4,000 digits": (b"[", b"1" * 4000 + b",", b"0]"),
        "many small numbers": (b"[", b"1,", b"1]"),
        "escapes in a text": (b'{"code":"', b"\\u0041", b'","name":"a"}'),
        "escaped zeros in a text": (b'{"code":"', b"\\u0000", b'","name":"a"}'),
        "lone surrogates": (b'{"code":"', b"\\ud800", b'","name":"a"}'),
        "combining marks": (b'{"code":"a","name":"a', "\u0300\u0316".encode(), b'"}'),
        "wide letters in a name": (b'{"code":"a","name":"', "\ufdfa".encode(), b'"}'),
        "the same name again": (b"{", b'"code":"a",', b'"name":"a"}'),
        "base64": (b'{"code":"', b"QUJD" * 64, b'","name":"a"}'),
        "white space": (b"[", b" ", b"]"),
        "bad UTF-8": (b'{"code":"', b"\xff", b'"}'),
    }
    bodies = {
        what: start + part * ((size_bytes - len(start)) // len(part)) + end
        for what, (start, part, end) in pieces.items()
    }
    bodies["many names"] = b"{" + b",".join(b'"k%d":0' % n for n in range(size_bytes // 11)) + b"}"
    return bodies


def hostile_heads(size_bytes: int = HEAD_BYTES) -> dict[str, Callable[[str], bytes]]:
    """Requests without a body whose first lines are long: `{what: Host field -> request}`.

    Args:
        size_bytes: about how long each is; below the server's bound, so that it is read.
    """

    def with_field(name: str, part: str) -> Callable[[str], bytes]:
        value = part * ((size_bytes - 500) // len(part))
        return lambda host: (
            f"GET /v1/profile/self HTTP/1.1\r\nHost: {host}\r\n{name}: {value}\r\n\r\n".encode()
        )

    def with_query(part: str) -> Callable[[str], bytes]:
        query = part * ((size_bytes - 500) // len(part))
        return lambda host: f"GET /v1/public/servers?{query} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()

    return {
        "a token of dots": with_field("Authorization", "Bearer " + "e30." * 8),
        "a long token": with_field("Authorization", "Bearer a.a.a"),
        "addresses that forwarded": with_field("X-Forwarded-For", "1.2.3.4, "),
        "subprotocols": with_field("Sec-WebSocket-Protocol", "a,"),
        "encodings": with_field("Accept-Encoding", "gzip;q=0.1,"),
        "tags": with_field("If-None-Match", '"a",'),
        "cookies": with_field("Cookie", "a=b; "),
        "query parameters": with_query("a=1&"),
        "percents in the query": with_query("%25"),
        "a long word to search for": with_query("query=%cc%80%cc%96&"),
    }


TARGETS = ("/v1/setup", "/v1/connect/servers/register", "/v1/connect/networks/join")
"""Paths of routes that read the body of a request without credentials."""


def hostile_requests(host: str) -> dict[str, bytes]:
    """Every request of a stranger, whole.

    Args:
        host: the Host field.
    """
    found = {what: make(host) for what, make in hostile_heads().items()}
    for what, body in hostile_bodies().items():
        for target in TARGETS:
            head = (
                f"POST {target} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n"
            )
            found[f"{what} to {target}"] = head.encode() + body
    return found
