"""Caches command output that depends on the code alone, in the user's cache folder.

Importing all routes takes a second. Only the first `partyline routes` after a change of the code does it; later ones
read a file in `$XDG_CACHE_HOME/partyline`, by default `~/.cache/partyline` (XDG Base Directory Specification).
"""

import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_ROOT = Path(__file__).parents[2]
SOURCES = tuple(_ROOT / layer for layer in ("actors", "persistence", "routes"))
"""The folders with the code of a release."""


def remembered(name: str, make: Callable[[], str], sources: Sequence[Path] = SOURCES) -> str:
    """Return the cached text, or make and cache it. If the cache cannot be written, it is made each time.

    Args:
        name: names the text; must be valid as a file name.
        make: makes the text.
        sources: folders; the text is made anew after a file in them has changed or a package was installed.
    """
    folder = _folder()
    if folder is None:
        return make()
    kept = folder / name
    mark = _mark(sources)
    try:
        known, _, text = kept.read_text().partition("\n")
    except (OSError, UnicodeDecodeError):
        known = text = ""
    if known != mark:
        text = make()
        _keep(kept, f"{mark}\n{text}")
    return text


def _folder() -> Path | None:
    """The folder of the cache; None for a user without a home, as in a container."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (given if given.is_absolute() else Path("~/.cache").expanduser()) / "partyline"
    except RuntimeError:
        return None


def _keep(path: Path, text: str) -> None:
    """Replace the file atomically, so that no reader sees half of it; errors of writing are ignored."""
    half = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(text)
        half.replace(path)
    except OSError:
        with suppress(OSError):
            half.unlink()


def _mark(sources: Sequence[Path]) -> str:
    digest = sha256(sys.version.encode())
    digest.update(b"%d" % Path(sysconfig.get_path("purelib")).stat().st_mtime_ns)
    for folder in sources:
        for line in sorted(_files(os.fspath(folder))):
            digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _files(folder: str) -> Iterator[str]:
    """A line for each file below a folder: its path, size and time of change."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        else:
            known = entry.stat()
            yield f"{entry.path}\0{known.st_size}\0{known.st_mtime_ns}\n"
