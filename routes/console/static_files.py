"""The files of the console: what they are, which digest stands for all of them, and what the first page loads.

One digest over all files is part of their address. So relative imports between modules work, a browser may keep each
for ever, and a changed file changes every address.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

ROOT = "/app/assets"

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
"""{suffix of a file that is served: its media type}."""

_STATIC_IMPORT = re.compile(r'^(?:import|export)\b(?:[^;"()=]*\bfrom)?\s*"([^"]+)"', re.MULTILINE)

IMPORTS = {
    "htm": "vendor/htm.js",
    "partyline": "client/partyline.js",
    "preact": "vendor/preact.js",
    "preact/hooks": "vendor/preact-hooks.js",
    "@preact/signals": "vendor/signals.js",
    "@preact/signals-core": "vendor/signals-core.js",
    "uplot": "vendor/uplot.js",
}
"""{name that modules import: file}; the browser gets it as an import map."""


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """The content of every file.

    Args:
        contents: {path below the folder: bytes}.
        digest: of all paths and contents.
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
            waiting += [_resolved(path, name) for name in _STATIC_IMPORT.findall(text)]
        return tuple(found)


def read_static_files(folder: Path | None = None) -> StaticFiles:
    """Read all files. Blocks on the disk; takes some milliseconds.

    Args:
        folder: in place of those that belong to the package, to work on them.

    Raises:
        OSError: a file cannot be read.
    """
    root = files("routes.console").joinpath("static") if folder is None else folder
    contents = dict(sorted(_walk(root, "")))
    digest = hashlib.sha256()
    for path, content in contents.items():
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return StaticFiles(contents, digest.hexdigest()[:16])


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        path = prefix + entry.name
        if entry.is_dir():
            found += _walk(entry, f"{path}/")
        else:
            found.append((path, entry.read_bytes()))
    return found


def _resolved(importer: str, name: str) -> str:
    if not name.startswith("."):
        return IMPORTS[name]
    parts = list(PurePosixPath(importer).parent.parts)
    for part in PurePosixPath(name).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)
