"""All that there is, counted: rows, files, series of metrics, descriptors, tasks, timers, objects and collections."""

import gc
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

from persistence.connection import Connection
from tests.census.places import Held, Root, modules, of_ours, walk
from tests.census.referrers import chains
from tests.support.world import World

DESCRIPTORS = Path("/proc/self/fd")

SHOWN = 5
"""How many objects of a type that has grown are followed to who holds them."""


@dataclass(frozen=True)
class Census:
    """Everything at one moment.

    Args:
        counts: {what: how many}.
        accounted: the ids of the objects below what is kept on purpose.
    """

    counts: Counter[str]
    accounted: set[int]

    def both(self, later: "Census") -> "Census":
        """What there is in this census and in a later one."""
        return Census(self.counts & later.counts, later.accounted)

    def grown(self, before: "Census", lives: int) -> dict[str, float]:
        """{what: by how many a life} of all that has grown by one or more a life since another census."""
        more = {what: count - before.counts[what] for what, count in self.counts.items()}
        return {what: by / lives for what, by in sorted(more.items()) if by >= lives}


async def take(world: World, roots: Sequence[Root], kept: Iterable[str]) -> Census:
    """Count everything once nothing is left that the collector would free.

    Args:
        world: a service at rest.
        roots: from where memory is looked through, beside our modules.
        kept: places below which objects are not counted.
    """
    counts = Counter(
        {f"rows of {table}": count for table, count in (await world.service.database.read(_rows)).items()}
    )
    for node in world.services:
        counts.update(f"series of {name}" for name in _series((await world.http.get("/metrics")).text))
        counts.update(f"files in {name}" for name in _files(node.config.data_dir))
        counts["timers"] += len(node.system._runtime.timers)
    gc.collect()
    held = walk((*roots, *modules()), kept)
    counts.update({f"held at {place}": size for place, size in held.sizes.items()})
    counts.update(f"objects {name}" for name in _names_of_objects(held))
    counts["descriptors"] = _descriptors()
    counts.update(f"tasks of {name}" for name in _tasks())
    return Census(counts, held.accounted)


def told(grown: Mapping[str, float], accounted: set[int]) -> str:
    """What has grown, a line each, and who holds it where its place does not say so.

    Args:
        grown: as `Census.grown` returns it.
        accounted: the ids of objects that are not meant.
    """
    return "\n".join(("", *(_line(what, by, accounted) for what, by in grown.items())))


def _line(what: str, by: float, accounted: set[int]) -> str:
    line = f"{what}: {by:.1f} more with each life"
    kind, _, name = what.partition(" ")
    if kind != "objects":
        return line
    found = [one for one in gc.get_objects() if of_ours(one) == name and id(one) not in accounted]
    del found[:-SHOWN]
    return "\n    ".join((line, *chains(found)))


def _names_of_objects(held: Held) -> Iterable[str]:
    for one in gc.get_objects():
        if (name := of_ours(one)) is not None and id(one) not in held.accounted:
            yield name


def _files(folder: Path) -> Iterable[str]:
    """For each file in a data folder, the top folder that it is in."""
    return (file.relative_to(folder).parts[0] for file in folder.rglob("*") if file.is_file())


def _descriptors() -> int:
    return sum(1 for _ in DESCRIPTORS.iterdir())


def _tasks() -> Iterable[str]:
    """The name of each task; a job has one from its first run on, which comes when it comes."""
    todo = [trio.lowlevel.current_root_task()]
    while todo:
        if (task := todo.pop()) is None:
            continue
        if not task.name.startswith("housekeeping"):
            yield task.name
        todo.extend(child for nursery in task.child_nurseries for child in nursery.child_tasks)


def _series(exposition: str) -> Iterable[str]:
    """The name of each series in a text of metrics; of a histogram those buckets are shown that something fell in."""
    for line in exposition.splitlines():
        name = line.partition(" ")[0].partition("{")[0]
        if not name.endswith(("#", "_bucket")):
            yield name


async def _rows(conn: Connection) -> dict[str, int]:
    tables = await conn.fetch(
        "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    )
    return {row["name"]: await conn.fetchval(f'SELECT count(*) FROM "{row["name"]}"') for row in tables}
