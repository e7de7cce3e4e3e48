"""A folder of vendored files, and `versions.json` in it, which says from which package each file is, and its digest."""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import msgspec

from scripts.vendoring.packages import BadPackage, Package, content, licence

VERSIONS = "versions.json"


class Entry(msgspec.Struct, frozen=True):
    """One vendored file.

    Args:
        package, version: the package's name and version at npm.
        integrity: the digest of the package's archive, as the registry gives it.
        source: the file's path within the package.
        file: the file's name in the folder.
        sha256: the file's SHA-256 digest, as hex.
    """

    package: str
    version: str
    integrity: str
    source: str
    file: str
    sha256: str


def entries(folder: Path) -> list[Entry]:
    """The entries in a folder's `versions.json`; empty where there is none."""
    list_of_it = folder / VERSIONS
    return msgspec.json.decode(list_of_it.read_bytes(), type=list[Entry]) if list_of_it.exists() else []


def put(folder: Path, package: Package, files: Sequence[tuple[str, str]]) -> None:
    """Write files of a package, its licence, and their entries, in place of those of another version.

    Args:
        files: (path within the package, name in the folder).

    Raises:
        BadPackage: the package lacks one of the files.
    """
    made = []
    for source, file in files:
        found = content(package.archive, source)
        digest = hashlib.sha256(found).hexdigest()
        made.append((Entry(package.name, package.version, package.integrity, source, file, digest), found))
    terms = licence(package.archive)
    kept = [one for one in entries(folder) if one.package != package.name]
    for entry, found in made:
        (folder / entry.file).write_bytes(found)
    (folder / licence_name(package.name)).write_bytes(terms)
    listed = [msgspec.to_builtins(entry) for entry in (*kept, *(entry for entry, _ in made))]
    (folder / VERSIONS).write_text(json.dumps(listed, indent=2) + "\n")


def licence_name(package: str) -> str:
    """The name of the file with a package's licence."""
    return f"{package.removeprefix('@').replace('/', '-')}.LICENSE"


def differences(folder: Path, fetch: Callable[[str], Package]) -> list[str]:
    """Lines about the files in a folder that are not as the registry has them; empty where all are.

    Args:
        fetch: gives the package of `name@version`.
    """
    found: list[str] = []
    asked = cache(fetch)
    for entry in entries(folder):
        spec = f"{entry.package}@{entry.version}"
        try:
            found += _differences(folder, entry, asked(spec))
        except BadPackage as bad:
            found.append(f"{spec}: {bad}")
    return found


def _differences(folder: Path, entry: Entry, package: Package) -> list[str]:
    spec, terms = f"{entry.package}@{entry.version}", licence_name(entry.package)
    found: list[str] = []
    if package.integrity != entry.integrity:
        found.append(f"{spec}: the registry has another integrity, {package.integrity}")
    if content(package.archive, entry.source) != (folder / entry.file).read_bytes():
        found.append(f"{entry.file}: not what {entry.source} of {spec} is")
    if licence(package.archive) != (folder / terms).read_bytes():
        found.append(f"{terms}: not the licence of {spec}")
    return found
