"""The files of the console, the digest that stands for all of them, and the modules that the first page loads.

Modules and style sheets are served joined (`joining.py`), and each by itself as well.

One digest over all files is part of every file's address. So relative imports between modules work, a browser may keep
each file for ever, and a change of one file changes all addresses.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

from routes.console.joining import JOINED, joined, path_of

ROOT = "/app/assets"

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".ts": "text/plain; charset=utf-8",
}
"""{suffix of a file that is served: its media type}."""

ENTRY = "boot.js"
"""The module that the page starts with."""

STYLES = ("css/tokens.css", "css/base.css", "css/parts.css", "css/pages.css")
"""The style sheets, in the order in which they apply."""

STYLE_SHEET = JOINED + "console.css"
"""All style sheets, joined into one file."""

_STATIC_IMPORT = re.compile(r'(?:^|;)(?:import|export)\b(?:[^;"()=]*\bfrom)?\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """The content of every file.

    Args:
        contents: {path below the folder: bytes}, the joined files below `joined/` included.
        digest: the digest of all files that they are made of.
    """

    contents: Mapping[str, bytes]
    digest: str

    @property
    def address(self) -> str:
        """The path below which the files are served, without a slash at the end."""
        return f"{ROOT}/{self.digest}"

    def media_type(self, path: str) -> str | None:
        """The media type of a file; None if there is no such file, or it is not served by itself."""
        return MEDIA_TYPES.get(PurePosixPath(path).suffix) if path in self.contents else None

    def imported_by(self, entry: str) -> tuple[str, ...]:
        """A module and all modules that a browser needs before it can run that one; dynamic imports are not followed.

        Args:
            entry: the path of the module, which comes first in the result.

        Raises:
            KeyError: a module imports one that does not exist.
        """
        found: dict[str, None] = {}
        waiting = [entry]
        while waiting:
            path = waiting.pop(0)
            if path in found:
                continue
            found[path] = None
            text = self.contents[path].decode()
            waiting += [path_of(path, name) for name in _STATIC_IMPORT.findall(text)]
        return tuple(found)


@cache
def shipped_static_files() -> StaticFiles:
    """The files that belong to the package, read once for each process. Blocks the first time."""
    return read_static_files(files("routes.console").joinpath("static"))


def read_static_files(folder: Traversable) -> StaticFiles:
    """Read all files, and join them. Blocks on the disk; takes some ten milliseconds.

    Args:
        folder: the folder that has the files.

    Raises:
        OSError: a file cannot be read.
        KeyError: a style sheet is missing.
        ValueError: a module cannot be joined with the others.
    """
    contents = dict(sorted(_walk(folder, "")))
    digest = hashlib.sha256()
    for path, content in contents.items():
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    made = joined(contents, ENTRY) | {STYLE_SHEET: b"".join(contents[path] for path in STYLES)}
    return StaticFiles(contents | made, digest.hexdigest()[:16])


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        path = prefix + entry.name
        if entry.is_dir():
            found += _walk(entry, f"{path}/")
        else:
            found.append((path, entry.read_bytes()))
    return found
