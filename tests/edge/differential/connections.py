"""Connections: how long they stay, several requests on one, other protocols."""

from tests.edge.differential.case import HOST, case, chunked, get, post

UNREAD = b"POST /unread HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n"
EXPECTING = b"Expect: 100-continue\r\n"
UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
KEY = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
LENGTH = b"Content-Length: 5\r\n"

CONNECTION = [
    case("three at once", "200 200 200 stays", get() + post(LENGTH) + chunked(b"2\r\nhi\r\n0\r\n\r\n")),
    case("fifty at once", "200 " * 50 + "stays", get() * 50),
    case("the second is broken", "200 400 ends", get() + b"nonsense\r\n\r\n"),
    case("the second has a broken body", "200 400 ends", get() + chunked(b"nonsense\r\n")),
    case("close", "200 ends", get(b"Connection: close\r\n")),
    case("close, in upper case", "200 ends", get(b"CONNECTION: CLOSE\r\n")),
    case("close in a list", "200 ends", get(b"Connection: a, close ,b\r\n")),
    case("close in a second line", "200 ends", get(b"Connection: a\r\nConnection: close\r\n")),
    case("close and keep-alive", "200 ends", get(b"Connection: keep-alive, close\r\n")),
    case("not quite close", "200 stays", get(b"Connection: closed\r\n")),
    case("requests behind close", "200 ends", get(b"Connection: close\r\n") + get()),
    case("nonsense behind close", "200 ends", get(b"Connection: close\r\n") + b"nonsense\r\n\r\n"),
    case("HTTP/1.0", "200 ends", get(line=b"GET /x HTTP/1.0")),
    case(
        "HTTP/1.0 with keep-alive",
        "200 stays",
        get(b"Connection: keep-alive\r\n", line=b"GET /x HTTP/1.0"),
    ),
    case(
        "HTTP/1.0 with keep-alive and close",
        "200 ends",
        get(b"Connection: keep-alive, close\r\n", line=b"GET /x HTTP/1.0"),
    ),
    case("a body that nobody reads", "200 ends", UNREAD + b"\r\n"),
    case("pieces to HTTP/1.0", "200 ends", get(line=b"GET /streamed HTTP/1.0")),
    case("pieces", "200 200 stays", get(line=b"GET /streamed HTTP/1.1"), get()),
    case("HEAD", "200 stays", get(line=b"HEAD /x HTTP/1.1")),
    case("HEAD of pieces", "200 stays", get(line=b"HEAD /streamed HTTP/1.1")),
    case("204", "204 stays", get(line=b"GET /nothing HTTP/1.1")),
]
"""RFC 9112 §9; RFC 9110 §9.3.2, §15.3.5."""

OTHERWISE = [
    case("100-continue", "100 200 stays", post(LENGTH + EXPECTING, b""), b"hello"),
    case(
        "100-continue for chunks",
        "100 200 stays",
        post(b"Transfer-Encoding: chunked\r\nExpect: 100-Continue\r\n", b""),
        b"2\r\nhi\r\n0\r\n\r\n",
    ),
    case("100-continue that nobody reads", "200 ends", UNREAD + EXPECTING + b"\r\n"),
    case("100-continue with its body", "200 stays", post(LENGTH + EXPECTING)),
    case(
        "100-continue from HTTP/1.0",
        "200 ends",
        b"POST /x HTTP/1.0\r\n" + LENGTH + EXPECTING + b"\r\nhello",
    ),
    case("another expectation", "200 stays", post(LENGTH + b"Expect: tea\r\n")),
    case(
        "an upgrade to HTTP/2",
        "200 200 stays",
        get(b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n"),
        get(),
    ),
    case(
        "an upgrade to something",
        "200 200 stays",
        get(b"Connection: Upgrade\r\nUpgrade: tea/1\r\n"),
        get(),
    ),
    case(
        "an upgrade with a body",
        "200 200 stays",
        post(b"Connection: Upgrade\r\nUpgrade: tea/1\r\n" + LENGTH) + get(),
    ),
    case(
        "fifty upgrades at once",
        "200 " * 50 + "stays",
        get(b"Connection: Upgrade\r\nUpgrade: tea/1\r\n") * 50,
    ),
    case("an upgrade that Connection does not name", "200 stays", get(b"Upgrade: websocket\r\n")),
    case("a handshake by POST", "200 stays", post(UPGRADE + LENGTH)),
    case("a handshake with a body", "200 stays", get(UPGRADE + LENGTH) + b"hello"),
    case(
        "a handshake in HTTP/1.0",
        "400 ends",
        get(UPGRADE + KEY + b"Sec-WebSocket-Version: 13\r\n", line=b"GET /x HTTP/1.0"),
    ),
    case("a handshake without a key", "400 ends", get(UPGRADE + b"Sec-WebSocket-Version: 13\r\n")),
    case("a handshake of version 8", "426 ends", get(UPGRADE + KEY + b"Sec-WebSocket-Version: 8\r\n")),
]
"""RFC 9110 §7.8, §10.1.1; RFC 6455 §4.2."""
