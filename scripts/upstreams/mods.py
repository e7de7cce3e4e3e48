"""Mods that both catalogues have, each in its own form."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

LOADERS = {"forge": 1, "fabric": 4, "quilt": 5, "neoforge": 6}
"""{name of a mod loader: CurseForge's number for it}."""

UPDATED = "2026-11-01T12:00:00Z"


@dataclass(frozen=True, slots=True)
class ModFile:
    """One file of a mod; Modrinth calls it a version.

    Args:
        number: counts the files of a mod, from 1.
        loader: the name of the mod loader.
        game_version: the version of Minecraft.
    """

    mod: "Mod"
    number: int
    loader: str
    game_version: str

    @property
    def version_id(self) -> str:
        """Modrinth's id of the file."""
        return f"V{self.mod.number:04d}{self.number:03d}"

    @property
    def file_id(self) -> int:
        """CurseForge's id of the file."""
        return self.mod.project_id * 10 + self.number

    @property
    def name(self) -> str:
        """The file's name."""
        return f"{self.mod.slug}-{self.loader}-{self.game_version}.jar"

    def digest(self, algorithm: str) -> str:
        """The file's hash in hex, by which Modrinth finds the file."""
        return hashlib.new(algorithm, self.version_id.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Mod:
    """A mod, as both catalogues know it.

    Args:
        number: a number from 1, of which both catalogues' ids are made.
        distribution: whether others may give its files away; None where its author has not said.
    """

    number: int
    slug: str
    name: str
    summary: str
    loaders: tuple[str, ...] = ("fabric",)
    game_versions: tuple[str, ...] = ("1.21",)
    downloads: int = 0
    distribution: bool | None = True

    @property
    def base62_id(self) -> str:
        """Modrinth's id of the mod."""
        return f"MOD{self.number:05d}"

    @property
    def project_id(self) -> int:
        """CurseForge's id of the mod."""
        return 300_000 + self.number

    def files(self) -> Iterator[ModFile]:
        """One for each loader and version of the game."""
        for number, (loader, version) in enumerate(product(self.loaders, self.game_versions), 1):
            yield ModFile(self, number, loader, version)


def many(count: int, *, first: int = 100) -> tuple[Mod, ...]:
    """Make `count` mods that differ in their numbers alone, the most downloaded first.

    Args:
        count: how many mods.
        first: the number of the first one.
    """
    return tuple(
        Mod(number, f"example-{number}", f"Example {number}", "One of many.", downloads=10_000 - number)
        for number in range(first, first + count)
    )


BOTH = ("fabric", "quilt")
NEW = ("1.20.1", "1.21", "1.21.1")

SHOWN = (
    Mod(1, "lanterns", "Lanterns", "Light in the dark.", (*BOTH, "neoforge"), NEW, 9_000_000),
    Mod(2, "swift-chunks", "Swift Chunks", "Draws the world faster.", BOTH, NEW, 8_000_000),
    Mod(3, "map-of-all", "Map of All", "Where you are.", ("forge", "fabric"), NEW, 7_000_000, None),
    Mod(4, "own-files", "Own Files", "Its files are its author's to give.", ("forge",), NEW, 600_000, False),
    Mod(5, "quilted", "Quilted", "For one loader alone.", ("quilt",), ("1.21",), 5_000),
    *many(60),
)
"""The mods that both catalogues have, unless they are given others."""
