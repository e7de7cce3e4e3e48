"""The files of the console: read, hashed and compressed once, at the start.

One digest of all files is part of each file's address. So imports between them are relative, browsers may keep each for
ever, and a release in which one file differs has other addresses for all.
"""

from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType

import trio

from routes.console.policy import asset_headers, page_headers
from routes.edge.config.table import Config
from routes.edge.documents import Document
from routes.edge.reply import Page
from routes.part import Opening, Part

FOREVER = "public, max-age=31536000, immutable"
"""Cache-Control of what another content has another address than."""

FRESH = "no-cache"
"""Cache-Control of the page, which names those addresses: kept, and asked about each time."""

PAGE = "page.html"

MEDIA: Mapping[str, str] = MappingProxyType(
    {
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
    }
)
"""{suffix: media type} of what the page loads."""

_PLACE = b"{{assets}}"  # in the page, where the folder's address stands


class Assets:
    """What the console consists of.

    Args:
        contents: {path below the folder: content}, the page among them.
        config: names the console's address.

    Attributes:
        digest: of all files; part of their addresses.
        page: the page that loads the others.
    """

    def __init__(self, contents: Mapping[str, bytes], config: Config) -> None:
        self.digest = _digest(contents)
        page = contents[PAGE].replace(_PLACE, f"/app/assets/{self.digest}".encode("ascii"))
        self.page: Document[Page] = Document(page, page_headers(config), FRESH)
        self._files: dict[str, Document[Page]] = {
            path: Document(content, asset_headers(MEDIA[_suffix(path)]), FOREVER)
            for path, content in contents.items()
            if path != PAGE
        }

    def find(self, digest: str, path: str) -> Document[Page] | None:
        """A file; None where there is none, or the address is that of another release.

        Args:
            digest: as in the address.
            path: below the folder.
        """
        return self._files.get(path) if digest == self.digest else None


def read_folder(folder: Traversable, below: str = "") -> dict[str, bytes]:
    """{path: content} of all files below a folder that are shipped to browsers.

    Args:
        below: the path of this folder, which precedes that of its files.
    """
    found: dict[str, bytes] = {}
    for entry in folder.iterdir():
        path = f"{below}{entry.name}"
        if entry.is_dir():
            found |= read_folder(entry, f"{path}/")
        elif path == PAGE or _suffix(path) in MEDIA:
            found[path] = entry.read_bytes()
    return found


def _suffix(path: str) -> str:
    return path[path.rfind(".") :]


def _digest(contents: Mapping[str, bytes]) -> str:
    digest = sha256()
    for path in sorted(contents):
        digest.update(f"{path}\n{len(contents[path])}\n".encode())
        digest.update(contents[path])
    return digest.hexdigest()[:16]


async def _open(opening: Opening) -> Assets:
    def made() -> Assets:
        return Assets(read_folder(files("routes.console").joinpath("static")), opening.config)

    return await trio.to_thread.run_sync(made)


ASSETS = Part(name="files of the console", open=_open)
"""The files of the console."""
