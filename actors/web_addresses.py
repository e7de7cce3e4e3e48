"""Addresses of web pages that clients send: which of them are sound, and what their origin is. Pure."""

from urllib.parse import SplitResult, urlsplit

from actors.field_errors import FieldError

_DEFAULT_PORTS = {"http": 80, "https": 443}


def https_flaws(text: str, pointer: str, max_characters: int) -> list[FieldError]:
    """The error of an address that must be of an https page, in a list; an empty list if it passes.

    Args:
        text: what the client sent; neither user info nor white space may stand in it.
        pointer: the JSON pointer to its field.
        max_characters: most characters that pass.
    """
    if len(text) > max_characters:
        return [FieldError(pointer, "TOO_LONG", f"at most {max_characters} characters")]
    parts = _parts(text)
    if parts is None or parts.scheme != "https":
        return [FieldError(pointer, "BAD_FORMAT", "an https address")]
    return []


def origin_of(text: str) -> str | None:
    """The origin of an http or https address, `https://host` or with a port that is not the default one (RFC 6454 §6);
    None when the address is not sound.

    Args:
        text: the address, at most some thousand characters long.
    """
    parts = _parts(text)
    if parts is None or parts.hostname is None:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port
    return f"{parts.scheme}://{host}" + ("" if port in {None, _DEFAULT_PORTS[parts.scheme]} else f":{port}")


def _parts(text: str) -> SplitResult | None:
    # Browsers drop some characters and take a backslash for a slash, so that they would go elsewhere than we believe.
    if not text.isascii() or not text.isprintable() or " " in text or "\\" in text:
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    return parts
