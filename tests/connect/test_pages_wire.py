"""How much a page of a game server may take, how much of its past is kept, and how fast it can be written."""

from itertools import product

from actors.connect.persisting import VERSIONS_BYTES
from actors.pages import MAX_PAGE_BYTES
from persistence.connection import Connection
from tests.connect.play import GameServer, claimed
from tests.support.world import Player, World, open_world

LARGE = "y" * 60_000


async def _put(player: Player, server: GameServer, number: int, source: str = "connect") -> None:
    body = {"source": source, "data": {"text": LARGE, "n": number}}
    await player.do("PUT", f"{server.path}/settings", body, status=200)


async def _kept(conn: Connection, server_id: str) -> tuple[int, int]:
    """(versions, bytes of their data)."""
    row = await conn.fetchrow(
        "SELECT count(*) AS count, sum(octet_length(data)) AS bytes FROM connect_settings_history"
        " WHERE server_id = $1",
        server_id,
    )
    assert row is not None
    return row["count"], row["bytes"]


async def _walk(player: Player, path: str, **query: object) -> list[list[dict[str, object]]]:
    """All pages, each no larger than a page may be."""
    pages: list[list[dict[str, object]]] = []
    cursor: dict[str, object] = {}
    while True:
        response = await player.ask(
            "GET", f"{path}?{'&'.join(f'{k}={v}' for k, v in {**query, **cursor}.items())}"
        )
        assert len(response.content) < MAX_PAGE_BYTES + 100_000
        page = response.json()
        pages.append(page["items"])
        assert page["hasMore"] is (page["nextCursor"] is not None)
        if not page["hasMore"]:
            return pages
        cursor = {"cursor": page["nextCursor"]}


async def test_lists_that_fit_one_page_have_the_form_of_every_list(world: World):
    """A client that walks pages needs no list of those that have none (contract §3)."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    own = ("/v1/connect/server-invites", "/v1/connect/sessions")
    for path in (*(f"{server.path}/{which}" for which in ("members", "invites", "extensions")), *own):
        page = await ann.get(path)
        assert (len(page["items"]) < 2, page["nextCursor"], page["hasMore"]) == (True, None, False), path


async def test_the_lists_of_a_server_take_a_limit_and_a_cursor_as_all_do(world: World):
    ann, *others = await world.players("Ann", "Ben", "Cid")
    server = await claimed(world, ann)
    for other in others:
        await ann.do("PUT", f"{server.path}/members/{other.id}", {"role": "viewer"})
    pages = await _walk(ann, f"{server.path}/members", limit=1)
    assert [[one["userId"] for one in page] for page in pages] == [[one.id] for one in (ann, *others)]
    for limit, items in ((0, 1), (-1, 1), (2, 2), (3, 3), (201, 3), ("", 3)):
        page = await ann.ask("GET", f"{server.path}/members{'?limit=' if limit != '' else ''}{limit}")
        assert (len(page.json()["items"]), page.json()["hasMore"]) == (items, items < 3)
    foreign = (await ann.get(f"{server.path}/members", limit=1))["nextCursor"]
    for which, query in product(("members", "invites", "extensions"), ("limit=abc", "limit=1.5", "cursor=x")):
        assert await ann.refused("GET", f"{server.path}/{which}?{query}") == (400, "BAD_QUERY")
    assert await ann.refused("GET", f"{server.path}/invites?cursor={foreign}") == (400, "BAD_QUERY")


async def test_the_history_of_settings_never_exceeds_its_bytes_nor_its_pages_theirs(database_url, tmp_path):
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        server, other = await claimed(world, ann), await claimed(world, ann, "Other")
        await _put(ann, other, 0)
        for number in range(50):
            await _put(ann, server, number, "shop" if number % 2 else "connect")
        for number in range(50, 90):
            await _put(ann, server, number)
        count, kept = await world.service.database.read(_kept, server.id)
        assert VERSIONS_BYTES - 70_000 < kept <= VERSIONS_BYTES
        assert await world.service.database.read(_kept, other.id) == (1, len(LARGE) + 17)
        pages = await _walk(ann, f"{server.path}/settings/history", limit=200)
        items = [item for page in pages for item in page]
        assert (len(pages), len(items)) == (5, count)
        assert [item["data"]["n"] for item in items] == list(range(89, 89 - count, -1))  # type: ignore[index]
        shop = [
            item
            for page in await _walk(ann, f"{server.path}/settings/history", source="shop")
            for item in page
        ]
        assert [item["version"] for item in shop] == [i["version"] for i in items if i["source"] == "shop"]
        bad = f"{server.path}/settings/history?cursor=1-2-../x"
        assert await ann.refused("GET", bad) == (400, "BAD_QUERY")


async def test_pages_of_commands_never_exceed_their_bytes(database_url, tmp_path):
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        made = []
        for _ in range(40):
            body = {"action": "a", "payload": {"text": LARGE}}
            made.append((await ann.do("POST", f"{server.path}/commands", body, status=201))["command"]["id"])
        pages = await _walk(ann, f"{server.path}/commands", limit=200)
        assert len(pages) == 3
        assert [item["id"] for page in pages for item in page] == made[::-1]
        taken: list[str] = []
        while page := (await server.get(f"{server.path}/commands", limit=200))["items"]:
            assert len(page) * len(LARGE) < MAX_PAGE_BYTES
            taken += [item["id"] for item in reversed(page)]
        assert taken == made


async def test_settings_are_never_written_at_the_rate_of_reads(world: World):
    """A policy of their own, for users and for the server alike."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    for caller in (ann, server):
        response = await caller.ask("PUT", f"{server.path}/settings", {"data": {}})
        assert response.headers["ratelimit-policy"] == '"settings-write";q=60;w=60'


async def test_a_walk_through_invites_and_sessions_comes_to_the_first_of_them(world: World):
    """Whom 201 servers have invited, or act for, sees all of them, and ends the consent that they gave first."""
    ann, ben = await world.players("Ann", "Ben")
    lasting = world.clock.now_ms() + 600_000

    async def fill(conn: Connection) -> None:
        await conn.execute(
            "INSERT INTO connect_servers (server_id, id, server_type, name, owner_id, secret, created_at_ms,"
            " updated_at_ms, last_seen_at_ms) SELECT lpad(to_hex(i), 36, '0'), lpad(to_hex(i), 24, '0'), 'paper', 's',"
            " $1, sha256('s'), 0, 0, 0 FROM generate_series(1, 201) AS i",
            ann.id,
        )
        await conn.execute(
            "INSERT INTO connect_sessions (server_id, user_id, id, name, started_at_ms, expires_at_ms)"
            " SELECT server_id, $1, id, 'Ben', 5, $2 FROM connect_servers",
            ben.id,
            lasting,
        )
        await conn.execute(
            "INSERT INTO connect_invites (id, server_id, inviter_id, invitee_user_id, role, capabilities, note, status,"
            " created_at_ms, expires_at_ms)"
            " SELECT id, server_id, owner_id, $1, 'admin', '{}', '', 'pending', 5, $2 FROM connect_servers",
            ben.id,
            lasting,
        )

    await world.service.database.transact(fill)
    for path, key in (("/v1/connect/sessions", "sessionId"), ("/v1/connect/server-invites", "id")):
        pages = await _walk(ben, path, limit=200)
        assert [len(page) for page in pages] == [200, 1], path
        assert len({str(item[key]) for page in pages for item in page}) == 201
