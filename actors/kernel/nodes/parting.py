"""Has the owners of some shards leave memory, before the shards go to another node."""

from collections.abc import Collection
from typing import Protocol

import trio

from actors.kernel.actor import Actor
from persistence.nodes.shards import shard_of


class Directory(Protocol):
    """The live owners of this node."""

    def actors(self) -> list[Actor]:
        """All owners that are live now."""
        ...

    async def wait_left(self) -> None:
        """Wait until one has left. Cancellation ends only the wait."""
        ...


async def part_with(directory: Directory, shards: Collection[int], seconds: float) -> Collection[int]:
    """Have all owners in these shards finish, save snapshots and leave; returns the shards that have none any more.

    Whoever watches one of them watches a copy from then on (`copies.py`). Owners that do not finish in time stay.
    Cancellation ends only the wait.

    Args:
        directory: the live owners of this node.
        shards: the shards, in which the placement allows no owner to be loaded here any more.
        seconds: how long to wait until the owners have left.
    """
    staying = _within(directory, shards)
    for actor in staying:
        actor.close()
    with trio.move_on_after(seconds):
        while staying := [actor for actor in staying if not actor.is_gone]:
            await directory.wait_left()
    for actor in staying:
        actor.reopen()
    return set(shards) - {shard_of(actor.kind.name, actor.id) for actor in staying}


def _within(directory: Directory, shards: Collection[int]) -> list[Actor]:
    wanted = set(shards)
    return [actor for actor in directory.actors() if shard_of(actor.kind.name, actor.id) in wanted]
