"""Documents in XML 1.0: elements, texts and attributes as markup, for feeds that others' programs read.

`Markup` and `str` are different types, so that a text cannot be put into a document without being escaped.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NewType
from xml.sax.saxutils import escape, quoteattr

Markup = NewType("Markup", str)
"""Well-formed XML: elements and escaped text."""

_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?")

# XML 1.0 has no form for these, not even as references: whole documents are refused for one of them.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# Hexadecimal references, because readers of feeds that decode `&amp;` and `&lt;` twice leave these alone. A reader
# takes a bare carriage return for a line feed.
_REFERENCES = {"&amp;": "&#x26;", "&lt;": "&#x3C;", "\r": "&#xD;"}


def text(value: str) -> Markup:
    """The text, escaped; characters that XML 1.0 cannot carry are left out. Takes linear time."""
    return Markup(escape(_IMPOSSIBLE.sub("", value), _REFERENCES))


def attributes(values: Mapping[str, str]) -> str:
    """The attributes as they stand in a tag, each with a space before it, in the order given.

    Args:
        values: {name: text}; characters that XML 1.0 cannot carry are left out.

    Raises:
        ValueError: a name is no XML name of ASCII characters.
    """
    quoted = (
        (_checked(name), quoteattr(_IMPOSSIBLE.sub("", value), _REFERENCES)) for name, value in values.items()
    )
    return "".join(f" {name}={value}" for name, value in quoted)


def element(name: str, *content: Markup, with_: Mapping[str, str] = _NO_ATTRIBUTES) -> Markup:
    """An element; one without content is written as an empty tag.

    Args:
        name: with or without a prefix, such as `atom:link`; the document declares the prefix.
        content: elements and texts, in order.
        with_: its attributes, {name: text}.

    Raises:
        ValueError: a name is no XML name of ASCII characters.
    """
    tag, inner = f"{_checked(name)}{attributes(with_)}", "".join(content)
    return Markup(f"<{tag}>{inner}</{name}>" if inner else f"<{tag}/>")


def document(root: Markup) -> bytes:
    """The document, encoded: its declaration, and its one element."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'.encode()


def _checked(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no XML name")
    return name
