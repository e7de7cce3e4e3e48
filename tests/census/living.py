"""Whole lives: somebody lives in every domain, everybody is erased, and a year passes in which jobs tidy up."""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from contextlib import asynccontextmanager
from functools import reduce

import trio

from persistence.connection import Connection
from routes.jobs import Job
from tests.census.cast import Cast, Life
from tests.census.census import Census, take
from tests.census.lives import LIVES
from tests.census.places import Root
from tests.support.jobs import jobs_of
from tests.support.waiting import wait_until
from tests.support.world import Player, World
from tests.users.play import swept

YEAR_MS = 366 * 86_400_000
RUNS = 3
"""How often each job is run after a life: what one has removed may be what the next one waits for."""

LOOKS = 3
"""How often is counted what there is: what was under way by chance counts no more then."""

BATCHES = 100
"""More than any job needs for what one life leaves."""


class Lives:
    """One life after the other in one world.

    Args:
        world: the service.
        keeper: a super-admin who erases everybody else.

    Attributes:
        seen: the names of the channels that were subscribed to.
    """

    def __init__(self, world: World, keeper: Player) -> None:
        self.world = world
        self._jobs = [job for node in world.services for job in jobs_of(node)]
        self.seen: set[str] = set()
        self._keeper = keeper
        self._number = 0

    async def live(self, lives: Iterable[Life] = tuple(LIVES.values())) -> None:
        """Live these once, and let everything of them be over."""
        self._number += 1
        async with self._cast() as cast:
            for life in lives:
                await life(cast)
            await self._erase_all()
        self.seen |= cast.seen
        await self._be_over()

    async def counted(self, kept: Collection[str]) -> Census:
        """Count everything that is there whenever one looks: nodes talk to each other, and jobs have their turns.

        Args:
            kept: as for `census.take`.
        """
        looks = [await self._look(kept) for _ in range(LOOKS)]
        return reduce(Census.both, looks)

    async def _look(self, kept: Collection[str]) -> Census:
        """Count while no actor is live: one that a deadline has just woken finds out that it is over."""
        while True:
            await wait_until(self._no_actor_is_live)
            census = await take(self.world, (*_roots(self.world), ("jobs", self._jobs)), kept)
            if not any(node.system.actors() for node in self.world.services):
                return census

    @asynccontextmanager
    async def _cast(self) -> AsyncIterator[Cast]:
        world = self.world
        root, mod = await world.super_admin(), await world.ranked("Mod", "moderator")
        ann, ben = await world.players("Ann", "Ben")
        async with (
            ann.live("/v1/social/live?channels=") as sight,
            root.live("/v1/social/live?channels=") as watch,
        ):
            yield Cast(world, root, mod, ann, ben, {ann.id: sight, root.id: watch}, self._number)

    async def _erase_all(self) -> None:
        for id in await self.world.service.database.read(_others, self._keeper.id):
            await self._keeper.do("DELETE", f"/v1/admin/users/{id}", status=204)
        await swept(self.world)

    async def _be_over(self) -> None:
        await wait_until(self._nobody_is_there)
        for _ in range(RUNS):
            self.world.advance(YEAR_MS)
            for job in self._jobs:
                await _finish(job)
        await wait_until(self._no_actor_is_live)
        # The token of before has expired.
        token = self.world.token(self._keeper.id, self._keeper.name)
        self._keeper.headers = {"authorization": f"Bearer {token}"}

    async def _nobody_is_there(self) -> bool:
        return all(len(node.sockets) == 0 for node in self.world.services)

    async def _no_actor_is_live(self) -> bool:
        now_ms = self.world.clock.now_ms()
        for node in self.world.services:
            for actor in node.system.actors():
                actor.retire_if_idle(now_ms)
            if (copies := node.system.copies) is not None:
                copies._close_unwatched(trio.current_time())
        return not any(node.system.actors() or node.system.copies for node in self.world.services)


def _roots(world: World) -> Iterator[Root]:
    """The database, the actors, all parts by their names, and whatever else each node has open."""
    for node in world.services:
        yield from (("database", node.database), ("system", node.system))
        yield from ((f"part {part.name}", opened) for part, opened in node.parts.items())
        yield "service", node


async def _finish(job: Job) -> None:
    for _ in range(BATCHES):
        if await job.run() is not False:
            return
    raise AssertionError(f"the job {job.name} has no end")


async def _others(conn: Connection, keeper_id: str) -> list[str]:
    rows = await conn.fetch("SELECT id FROM users WHERE id <> $1 ORDER BY created_at_ms", keeper_id)
    return [row["id"] for row in rows]
