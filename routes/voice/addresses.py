"""Addresses of voice nodes, to which clients are sent; the service itself never connects to one."""

import re
from urllib.parse import urlsplit

from actors.errors import Invalid
from actors.field_errors import FieldError

MAX_URL_CHARACTERS = 300

_HOST = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+", re.ASCII | re.IGNORECASE)


def public_url(text: str) -> str:
    """Check the address of a voice node; returns it unchanged.

    Raises:
        Invalid: it is not a WebSocket's, or has more than scheme, host, port and path.
    """
    if len(text) > MAX_URL_CHARACTERS:
        raise Invalid(FieldError("/publicUrl", "TOO_LONG", f"at most {MAX_URL_CHARACTERS} characters"))
    if not is_websocket(text):
        raise Invalid(FieldError("/publicUrl", "BAD_FORMAT", "ws:// or wss://, host, port and path"))
    return text


def is_websocket(text: str) -> bool:
    """Whether this is the address of a WebSocket, with nothing but scheme, host, port and path."""
    if not text.isascii() or not text.isprintable() or any(mark in text for mark in ' \\?#@"<>'):
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    host = parts.hostname or ""
    return parts.scheme in {"ws", "wss"} and _HOST.fullmatch(host) is not None and port != 0
