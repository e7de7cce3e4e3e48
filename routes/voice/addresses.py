"""Addresses of voice nodes, to which clients are sent; the service itself never connects to one."""

import re
from urllib.parse import urlsplit

from actors.errors import FieldError, Invalid

MAX_URL_CHARACTERS = 300

_HOST = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+", re.ASCII | re.IGNORECASE)


def public_url(text: str) -> str:
    """The address, as it was sent.

    Raises:
        Invalid: it is not of a WebSocket, or says more than where it is.
    """
    if len(text) > MAX_URL_CHARACTERS:
        raise Invalid(FieldError("/publicUrl", "TOO_LONG", f"at most {MAX_URL_CHARACTERS} characters"))
    if not is_websocket(text):
        raise Invalid(FieldError("/publicUrl", "BAD_FORMAT", "ws:// or wss://, host, port and path"))
    return text


def is_websocket(text: str) -> bool:
    """Whether this is the address of a WebSocket, and says nothing more than where it is."""
    if not text.isascii() or not text.isprintable() or any(mark in text for mark in ' \\?#@"<>'):
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    host = parts.hostname or ""
    return parts.scheme in {"ws", "wss"} and _HOST.fullmatch(host) is not None and port != 0
