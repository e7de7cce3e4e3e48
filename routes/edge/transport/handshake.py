"""The opening handshake of a WebSocket (RFC 6455 §4.2): its checks, and the response that accepts it.

Stock Hypercorn's process ends at one non-ASCII byte in a header of the handshake. Here every malformed handshake is a
400, before any of it reaches the application.
"""

import base64
import binascii
from collections.abc import Iterable
from hashlib import sha1

from routes.edge.errors import EdgeRefused
from routes.edge.transport.refusals import BadRequest, UpgradeRequired

EARLY_MAX_BYTES = 64 * 1024
"""Most bytes that a client may send before its handshake is answered (RFC 6455 §4.1 lets it send none)."""

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 §1.3

_CHECKED = (
    b"connection",
    b"sec-websocket-extensions",
    b"sec-websocket-key",
    b"sec-websocket-protocol",
    b"sec-websocket-version",
    b"upgrade",
)


def handshake_refusal(http_version: str, headers: Iterable[tuple[bytes, bytes]]) -> EdgeRefused | None:
    """The refusal of a malformed handshake (RFC 6455 §4.2.1), or None.

    Args:
        http_version: such as `1.1`.
        headers: (lower-case name, value), as they came.
    """
    fields: dict[bytes, list[bytes]] = {}
    for name, text in headers:
        if name in _CHECKED:
            if not text.isascii():
                return BadRequest("a handshake header holds a byte that is not ASCII")
            fields.setdefault(name, []).append(text)
    keys = fields.get(b"sec-websocket-key", [])
    if http_version != "1.1":
        complaint = "a WebSocket needs HTTP/1.1"
    elif b"websocket" not in elements(map(bytes.lower, fields.get(b"upgrade", ()))):
        complaint = "Upgrade must be websocket"
    elif b"upgrade" not in elements(map(bytes.lower, fields.get(b"connection", ()))):
        complaint = "Connection must hold upgrade"
    elif elements(fields.get(b"sec-websocket-version", ())) != [b"13"]:
        return UpgradeRequired()
    elif len(keys) != 1 or not _is_key(keys[0]):
        complaint = "Sec-WebSocket-Key must be 16 bytes in base64"
    else:
        return None
    return BadRequest(complaint)


def offered_subprotocols(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """The subprotocols that the client offers, in its order.

    Args:
        headers: (lower-case name, value) of a handshake that was not refused.
    """
    lines = (text for name, text in headers if name == b"sec-websocket-protocol")
    return [element.decode() for element in elements(lines)]


def elements(lines: Iterable[bytes]) -> list[bytes]:
    """The elements of a list header (RFC 9110 §5.6.1).

    Args:
        lines: the value of each line with the header's name.
    """
    return [element.strip() for line in lines for element in line.split(b",") if element.strip()]


def acceptance(
    key: bytes,
    *,
    subprotocol: bytes | None = None,
    extension: bytes | None = None,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> bytes:
    """The 101 response (RFC 6455 §4.2.2).

    Args:
        key: the validated `Sec-WebSocket-Key`.
        subprotocol: the selected one of the client's subprotocols, or None.
        extension: the extension that was agreed on, with its parameters, or None.
        headers: (name, value) of further headers.
    """
    accept = base64.b64encode(sha1(key.strip() + _MAGIC, usedforsecurity=False).digest())
    lines = [
        b"HTTP/1.1 101 Switching Protocols",
        b"upgrade: websocket",
        b"connection: Upgrade",
        b"sec-websocket-accept: " + accept,
    ]
    if subprotocol is not None:
        lines.append(b"sec-websocket-protocol: " + subprotocol)
    if extension is not None:
        lines.append(b"sec-websocket-extensions: " + extension)
    lines += [name + b": " + text for name, text in headers]
    return b"\r\n".join([*lines, b"", b""])


def _is_key(text: bytes) -> bool:
    try:
        return len(base64.b64decode(text.strip(), validate=True)) == 16
    except binascii.Error:
        return False
