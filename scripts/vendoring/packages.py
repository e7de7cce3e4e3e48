"""Packages of npm: fetched with npm itself, and held against what the registry says of them."""

import base64
import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from shutil import which
from typing import NamedTuple

_ROOT = "package/"
"""The folder within a package's archive (npm)."""

_LICENCES = ("LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license")

SECONDS = 120


class BadPackage(Exception):
    """A package cannot be had, is not what the registry says, or lacks a file."""


class Package(NamedTuple):
    """A version of a package.

    Args:
        name, version: the package's name and version at npm.
        archive: the content of the registry's archive.
        integrity: the archive's digest, as the registry gives it (Subresource Integrity, `sha512-…`).
    """

    name: str
    version: str
    archive: bytes
    integrity: str


def fetched(spec: str) -> Package:
    """A package of the registry.

    Args:
        spec: `name@version`, as npm takes it; the version is exact.

    Raises:
        BadPackage: npm is not installed, there is no such package, or the archive's digest is another one.
    """
    npm = which("npm")
    if npm is None:
        raise BadPackage("no npm here: apt-get install npm")
    with tempfile.TemporaryDirectory(prefix="partyline-vendor-") as folder:
        said = _asked([npm, "view", spec, "dist.integrity", "--json"], folder)
        _asked([npm, "pack", spec, "--ignore-scripts", "--silent"], folder)
        archive = next(Path(folder).glob("*.tgz")).read_bytes()
    name, _, version = spec.rpartition("@")
    package = Package(name, version, archive, str(json.loads(said)))
    verified(package)
    return package


def verified(package: Package) -> None:
    """Compare a package's archive with its integrity.

    Raises:
        BadPackage: the archive has another digest.
    """
    algorithm, _, wanted = package.integrity.partition("-")
    if algorithm != "sha512":
        raise BadPackage(f"an integrity of another kind: {package.integrity}")
    if base64.b64encode(hashlib.sha512(package.archive).digest()).decode() != wanted:
        raise BadPackage("the archive is not what its integrity says")


def content(archive: bytes, path: str) -> bytes:
    """One file of a package.

    Raises:
        BadPackage: the archive has no such file.
    """
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        try:
            held = opened.extractfile(_ROOT + path)
        except KeyError:
            held = None
        if held is None:
            raise BadPackage(f"no {path} in it")
        return held.read()


def licence(archive: bytes) -> bytes:
    """The text of a package's licence.

    Raises:
        BadPackage: the archive has no licence.
    """
    for name in _LICENCES:
        try:
            return content(archive, name)
        except BadPackage:
            continue
    raise BadPackage("no licence in it")


def _asked(command: list[str], folder: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode != 0:
        raise BadPackage(done.stderr.strip() or done.stdout.strip())
    return done.stdout
