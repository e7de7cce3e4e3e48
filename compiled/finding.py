"""Finds compiled modules in place of their sources, as long as the sources are what was compiled.

The shared objects lie in a folder that Python's own import never looks into, so none can be taken for an edited source:
only the finder here knows them. The finder is installed if every source that they were compiled from, or against, has
the digest that the manifest has, and all shared objects exist for this interpreter; else every module runs from its
source. All or none, because compiled modules know the layout of each other's classes.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
"""The folder with the three layers: a checkout, or the site packages."""

OBJECTS = "compiled/objects"
"""Where the shared objects lie, from the root."""

MANIFEST = "manifest.json"
"""The name of the file beside the shared objects that lists them, and what they were made of."""

SUPPORT = "__mypyc"
"""The ending of the name of a shared object that holds the code of a whole group of modules, and is no module
itself."""

PURE = "PARTYLINE_PURE"
"""The environment variable that has every module run from its source, where it is `on` (docs/settings.md)."""


class Manifest(NamedTuple):
    """What was compiled.

    Args:
        interpreter: the first of `EXTENSION_SUFFIXES` of the Python that the modules were compiled for.
        sources: digests of all sources that were compiled, and of all of ours that they import: {path from the root:
            digest}.
        objects: {full name of a module: path of its shared object from the folder of the objects}.
    """

    interpreter: str
    sources: dict[str, str]
    objects: dict[str, str]


class Standing(NamedTuple):
    """Which modules run compiled in this process.

    Args:
        modules: names of the modules that run compiled, in order; empty if all run from their source.
        hindrance: why compiled modules that are there are not used; None if they are, or if there are none.
    """

    modules: tuple[str, ...]
    hindrance: str | None


class Finder:
    """Finds compiled modules by their full name, for `sys.meta_path`.

    Args:
        objects: {full name of a module: path of its shared object}.
    """

    def __init__(self, objects: Mapping[str, Path]) -> None:
        self.objects = objects

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec by which a module is loaded (importlib.abc.MetaPathFinder).

        Args:
            name: the module's full name, with its packages.

        Returns: None if the module was not compiled.
        """
        found = self.objects.get(name)
        if found is None:
            return None
        return spec_from_file_location(name, found, loader=ExtensionFileLoader(name, os.fspath(found)))


def use(root: Path = ROOT) -> None:
    """Let compiled modules be found, if there are any that may be used; call it before any of them is imported.

    Args:
        root: the folder with the three layers.
    """
    folder = root / OBJECTS
    if _installed() is not None or _is_pure() or not folder.is_dir():
        return
    manifest = read_manifest(folder)
    if manifest is not None and hindrance(manifest, root) is None:
        sys.meta_path.insert(0, Finder({name: folder / path for name, path in manifest.objects.items()}))


def standing(root: Path = ROOT) -> Standing:
    """What runs in this process, and why compiled modules that are there do not.

    Args:
        root: the folder with the three layers.
    """
    finder = _installed()
    if finder is not None:
        return Standing(tuple(sorted(name for name in finder.objects if not name.endswith(SUPPORT))), None)
    folder = root / OBJECTS
    if not folder.is_dir():
        return Standing((), None)
    if _is_pure():
        return Standing((), f"{PURE} is on")
    manifest = read_manifest(folder)
    if manifest is None:
        return Standing((), f"{folder / MANIFEST} cannot be read")
    return Standing((), hindrance(manifest, root))


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder with shared objects; None if there is none, or it cannot be read.

    Args:
        folder: the folder with the shared objects.
    """
    try:
        return Manifest(**json.loads((folder / MANIFEST).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def hindrance(manifest: Manifest, root: Path = ROOT) -> str | None:
    """Why the compiled modules must not be used, in a few words; None if they may be.

    Args:
        manifest: what was compiled.
        root: the folder with the three layers.
    """
    if manifest.interpreter != EXTENSION_SUFFIXES[0]:
        return f"made for another Python ({manifest.interpreter.strip('.')})"
    for path, digest in manifest.sources.items():
        if digest_of(root / path) != digest:
            return f"{path} has changed since"
    for path in manifest.objects.values():
        if not (root / OBJECTS / path).is_file():
            return f"{path} is missing"
    return None


def digest_of(path: Path) -> str | None:
    """The digest of a file's content; None if it cannot be read.

    Args:
        path: the path of a source.
    """
    try:
        return blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return None


def _is_pure() -> bool:
    return os.environ.get(PURE, "").lower() in ("on", "1", "true")


def _installed() -> Finder | None:
    return next((one for one in sys.meta_path if isinstance(one, Finder)), None)
