"""Canonical JSON (RFC 8785), so that everybody who hashes the same requirement gets the same digest.

Of numbers only whole ones are taken, up to 2^53: nothing that is hashed here has others, and theirs is the one part
of the standard on which implementations differ.
"""

import hashlib
import json
from typing import Any

from actors.bounds import MAX_SAFE_INTEGER


class NotCanonical(ValueError):
    """A value that has no canonical form here."""


def canonical(value: Any) -> str:
    """The canonical text of a JSON value.

    Raises:
        NotCanonical: the value has a number that is not whole or too large, or a text that is no Unicode, or is no
            JSON.
    """
    match value:
        case None | bool():
            return "null" if value is None else "true" if value else "false"
        case int() if abs(value) <= MAX_SAFE_INTEGER:
            return str(value)
        case str():
            return _text(value)
        case list() | tuple():
            return f"[{','.join(map(canonical, value))}]"
        case dict():
            return f"{{{','.join(f'{_text(name)}:{canonical(value[name])}' for name in _sorted(value))}}}"
        case _:
            raise NotCanonical("whole numbers up to 2^53, texts, booleans, lists and objects only")


def digest(value: Any) -> str:
    """The SHA-256 digest of a JSON value's canonical text, in lower-case hexadecimal.

    Raises:
        NotCanonical: the value has no canonical text.
    """
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotCanonical("a text is no Unicode") from None
    # Python escapes what RFC 8785 §3.2.2.2 escapes, and in the same way.
    return json.dumps(text, ensure_ascii=False)


def _sorted(value: dict[Any, Any]) -> list[str]:
    """The names, by their UTF-16 code units (RFC 8785 §3.2.3)."""
    if not all(isinstance(name, str) for name in value):
        raise NotCanonical("names are texts")
    return sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
