"""Catalog files, and their import into a running service."""

import json
from io import BytesIO
from typing import Any

import trio

from actors.catalogs.importing import Imported, import_catalogs
from tests.support.world import World

HASH = "0123456789abcdef" * 4

COW = {"name": "Cow", "tags": ["Animals", "Farm"], "texture": HASH}
COWBELL = {"name": "Cowbell", "tags": ["Music"], "texture": "f" * 64}
SNOWMAN = {"name": "Snowman", "texture": "a" * 63}
ANIMALS = {"slug": "animals", "name": "Animals", "kind": "head"}

PIRATES = {
    "name": "Pirates",
    "tags": ["sea"],
    "baseColor": "black",
    "patterns": [{"pattern": "minecraft:skull", "color": "white"}],
}
FLAGS = {"slug": "flags", "name": "Flags", "kind": "banner"}


def lines(catalog: dict[str, Any], *items: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of a catalog."""
    return [{"catalog": catalog}, *({"item": {"catalogSlug": catalog["slug"], **item}} for item in items)]


async def take_in(world: World, *given: Any) -> list[Imported]:
    """Import lines, each a JSON value or bytes; returns the outcome of each catalog."""
    text = b"\n".join(one if isinstance(one, bytes) else json.dumps(one).encode() for one in given)
    reports: list[Imported] = []
    await import_catalogs(world.service.database, BytesIO(text), reports.append, trio.to_thread.run_sync)
    return reports
