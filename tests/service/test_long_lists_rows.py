"""Rows: no page of a long list looks at every row of it, be it the first page or one far behind."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from persistence.connect import extensions, listing
from persistence.connection import Connection
from persistence.publications import moderating
from persistence.users import listing as users
from tests.service.overdue import PUBLICATIONS, SERVERS, USERS
from tests.support.explaining import Explaining, large_tables
from tests.support.world import World, open_world

EXTENSIONS = """
INSERT INTO connect_extensions
SELECT 'e' || i, lpad(to_hex(i), 24, '0'), 'e', '', lpad(to_hex(i % 100 + 1), 36, '0'),
       CASE WHEN i % 3 = 0 THEN 'private' ELSE 'public' END, 0, 0
FROM generate_series(1, 12000) AS i
"""
MANY_USERS = USERS.replace("generate_series(1, 150)", "generate_series(1, 12000)")
FILLS = (
    MANY_USERS,
    "INSERT INTO user_roles SELECT id, 'moderator', 0 FROM users LIMIT 3",
    SERVERS,
    PUBLICATIONS.format(source="USER", state="CONNECT", at=0),
    "UPDATE publications SET name_lower = id, featured = id < lpad('4', 24, '0')",
    EXTENSIONS,
)
OWNER = f"{1:036x}"
LIMIT = 51

Page = Callable[[Connection], Awaitable[Any]]

PAGES: dict[str, Page] = {
    "extensions": lambda conn: extensions.visible(conn, OWNER, ["e3", "e6"], None, LIMIT),
    "extensions far behind": lambda conn: extensions.visible(conn, OWNER, ["e3"], "e9", LIMIT),
    "featured publications": lambda conn: moderating.list_publications(
        conn, moderating.WantedPublications(featured=True, limit=LIMIT)
    ),
    "publications far behind": lambda conn: moderating.list_publications(
        conn, moderating.WantedPublications(featured=False, after=("0" * 20 + "3000", ""), limit=LIMIT)
    ),
    "servers far behind": lambda conn: listing.list_servers(
        conn, listing.WantedServers(claimed=True, after=("", "s5"), limit=LIMIT)
    ),
    "moderators": lambda conn: users.list_users(conn, users.WantedUsers(role="moderator", limit=LIMIT)),
    "users far behind": lambda conn: users.list_users(
        conn, users.WantedUsers(after=("u5", OWNER), limit=LIMIT)
    ),
}


@pytest.fixture
async def filled(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A service with long lists."""

    async def fill(conn: Connection) -> None:
        for statement in FILLS:
            await conn.execute(statement)

    async with open_world(database_url, tmp_path) as world:
        await world.service.database.transact(fill)
        yield world


async def test_no_page_looks_at_every_row(filled: World, subtests: pytest.Subtests) -> None:
    large = await filled.service.database.read(large_tables)
    assert {"connect_extensions", "publications", "connect_servers", "users"} <= large
    for name, page in PAGES.items():
        scanned: list[str] = []

        async def read(conn: Connection, page: Page = page, scanned: list[str] = scanned) -> Any:
            return await page(cast(Connection, Explaining(conn, scanned)))

        with subtests.test(name):
            assert await filled.service.database.read(read)
            assert not large.intersection(scanned), name
