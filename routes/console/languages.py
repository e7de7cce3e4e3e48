"""Words of pages that need no scripts, in the language that a browser asks for (RFC 9110 §12.5.4)."""

import re
from dataclasses import dataclass
from html import escape
from typing import Any

import orjson

from routes.console.static_files import StaticFiles

FALLBACK = "en"
"""The language of readers who want none of the existing ones."""

MOST_WANTED = 20
"""Most languages of a header that are looked at."""

_FILE = re.compile(r"text/(\w+)\.landing\.json")
_QUALITY = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", re.ASCII)
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language.

    Args:
        language: the language's code, such as `de`.
        entries: {key: a text, or its forms for numbers}.
    """

    language: str
    entries: dict[str, Any]

    def say(self, key: str, **values: str | int) -> str:
        """The words under a key, escaped, with `{name}` replaced by values, which are markup.

        Args:
            key: the key of an entry.
            values: the markup for each `{name}`; the value of `count` chooses the form.
        """
        entry = self.entries[key]
        text = entry if isinstance(entry, str) else entry["one" if values.get("count") == 1 else "other"]
        return _PLACE.sub(lambda found: str(values[found[1]]), escape(text))


def words_for(static: StaticFiles, accepted: bytes | None) -> Words:
    """The words in the existing language that a reader wants most.

    Args:
        static: all files of the console, with `text/<language>.landing.json`.
        accepted: the header Accept-Language, or None.
    """
    offered = {found[1] for found in map(_FILE.fullmatch, static.contents) if found}
    language = preferred(accepted, offered)
    return Words(language, orjson.loads(static.contents[f"text/{language}.landing.json"]))


def preferred(accepted: bytes | None, offered: set[str]) -> str:
    """The language that a header wants most, by its first part: `de-AT` is `de`; `FALLBACK` where none is offered.

    Args:
        accepted: the header Accept-Language, or None; malformed parts of it are ignored.
        offered: the codes of the languages that exist.
    """
    wanted = []
    for part in (accepted or b"").decode("latin-1").split(",")[:MOST_WANTED]:
        tag, _, parameter = part.partition(";")
        quality = _QUALITY.fullmatch(parameter.strip()) if parameter.strip() else None
        if quality is None and parameter.strip():
            continue
        wanted.append((float(quality[1]) if quality else 1.0, tag.strip().lower().split("-")[0]))
    liked = sorted((one for one in wanted if one[0] > 0), key=lambda one: -one[0])
    return next((language for _, language in liked if language in offered), FALLBACK)
