"""A list in pages that a test walks, and the ways of putting something into it and of taking it out."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from persistence.connection import Connection
from tests.support.world import Player, World

Make = Callable[[int], Awaitable[str]]
Remove = Callable[[str], Awaitable[object]]


@dataclass(frozen=True)
class Walked:
    """A list that somebody walks.

    Args:
        asker: who may read it.
        path: where, with filters.
        key: the field of an item that names it.
        make: makes one more thing of that number; returns its name.
        remove: takes one out of the list.
        watching: what they have open meanwhile.
        ties: all is made at one moment.
    """

    asker: Player
    path: str
    key: str
    make: Make
    remove: Remove
    watching: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    ties: bool = True

    async def page(self, cursor: str | None) -> tuple[list[str], str | None]:
        """The names on a page of two, and the cursor of the next."""
        more = f"&cursor={cursor}" if cursor else ""
        page = await self.asker.get(f"{self.path}{'&' if '?' in self.path else '?'}limit=2{more}")
        assert page["hasMore"] is (page["nextCursor"] is not None)
        assert page["items"] or cursor is not None
        return [str(item[self.key]) for item in page["items"]], page["nextCursor"]


def swept(world: World, table: str, column: str = "id") -> Remove:
    """Takes a row as a sweep does, which asks nobody."""

    async def remove(name: str) -> None:
        async def unit(conn: Connection) -> None:
            await conn.execute(f"DELETE FROM {table} WHERE {column}::text = $1", name)

        await world.service.database.transact(unit)

    return remove


def asked(by: Player, path: str) -> Remove:
    """Takes it as its owner does."""

    async def remove(name: str) -> None:
        await by.do("DELETE", path.format(name))

    return remove


def patched(by: Player, path: str, **changes: object) -> Remove:
    """Changes it so that the filter of the list leaves it out."""

    async def remove(name: str) -> None:
        await by.do("PATCH", path.format(name), changes)

    return remove


def posted(by: Player, path: str, key: str, body: object) -> Make:
    """Makes a thing by posting the same again."""

    async def make(_number: int) -> str:
        return str((await by.do("POST", path, body))[key])

    return make
