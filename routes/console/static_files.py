"""The files of the console: what they are, which digest stands for all of them, and what the first page loads.

Modules and style sheets are served joined (`joining.py`), and each by itself as well.

One digest over all files is part of their address. So relative imports between modules work, a browser may keep each
for ever, and a changed file changes every address.
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
"""The module that begins."""

STYLES = ("css/tokens.css", "css/base.css", "css/parts.css", "css/pages.css")
"""The style sheets, in the order in which they apply."""

STYLE_SHEET = JOINED + "console.css"
"""All of them, joined."""

_STATIC_IMPORT = re.compile(r'(?:^|;)(?:import|export)\b(?:[^;"()=]*\bfrom)?\s*"([^"]+)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """The content of every file.

    Args:
        contents: {path below the folder: bytes}, with the joined ones below `joined/`.
        digest: of all that they are made of.
    """

    contents: Mapping[str, bytes]
    digest: str

    @property
    def address(self) -> str:
        """Where the files are served, without a slash at the end."""
        return f"{ROOT}/{self.digest}"

    def media_type(self, path: str) -> str | None:
        """The media type of a file; None if there is no such file, or it is not served by itself."""
        return MEDIA_TYPES.get(PurePosixPath(path).suffix) if path in self.contents else None

    def imported_by(self, entry: str) -> tuple[str, ...]:
        """The modules that a browser needs before it can run one, that one first; dynamic imports are not followed.

        Args:
            entry: path of a module.

        Raises:
            KeyError: a module imports what is not there.
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
    """The files that belong to the package; read once for each process. Blocks, the first time."""
    return read_static_files(files("routes.console").joinpath("static"))


def read_static_files(folder: Traversable) -> StaticFiles:
    """Read all files, and join them. Blocks on the disk; takes some ten milliseconds.

    Args:
        folder: where they lie.

    Raises:
        OSError: a file cannot be read.
        KeyError: a style sheet is not there.
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
