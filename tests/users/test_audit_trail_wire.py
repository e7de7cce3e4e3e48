"""Wire: the audit trail is found by who did it, to whom, what it was, and when; page by page."""

from typing import Any

import pytest

from actors.ids import new_object_id
from actors.time import iso
from persistence.connection import Connection
from persistence.users.audit import Stamp, WantedAudit, read_audit, write_audit
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

AUDIT = "/v1/admin/audit"
ANN, BEN, EVE = (f"00000000-0000-4000-8000-00000000000{number}" for number in range(3))
REQUEST = f"{7:024x}"
FIRST_MS = 1_700_000_000_000

# (who, what, whom), a second apart, but for the last two, which are of one moment.
DONE = [
    (ANN, "role.added", BEN),
    (ANN, "permission.granted", EVE),
    (None, "role.added", EVE),
    (BEN, "permission.granted", EVE),
    (ANN, "permission.granted", BEN),
    (EVE, "cape.moderated", None),
]
AT_MS = [FIRST_MS + min(number, 4) * 1_000 for number in range(len(DONE))]


@pytest.fixture
async def root(world: World) -> Player:
    root = await world.super_admin()

    async def write(conn: Connection) -> None:
        for number, (actor_id, action, target_id) in enumerate(DONE):
            at_ms = AT_MS[number]
            request_id = REQUEST if number in {1, 3} else None
            stamp = Stamp(new_object_id(at_ms, world.service.random_bytes), at_ms, actor_id, request_id)
            await write_audit(conn, stamp, action, target_id=target_id, detail=b"{}")

    await world.service.database.transact(write)
    return root


async def found(root: Player, **query: object) -> list[int]:
    """Which entries of `DONE` are answered, page by page."""
    items: list[Any] = []
    cursor = None
    while cursor != "":
        page = await root.get(AUDIT, limit=2, **query, **({"cursor": cursor} if cursor else {}))
        items += page["items"]
        cursor = page["nextCursor"] or ""
    keys = [(one["at"], one["actorId"], one["action"], one["targetId"]) for one in items]
    wanted = [(iso(at_ms), *done) for at_ms, done in zip(AT_MS, DONE, strict=True)]
    return [wanted.index(key) for key in keys]


@in_one_world(
    ("query", "numbers"),
    [
        ({}, [5, 4, 3, 2, 1, 0]),
        ({"actorId": ANN}, [4, 1, 0]),
        ({"actorId": ANN.upper()}, [4, 1, 0]),
        ({"targetId": EVE}, [3, 2, 1]),
        ({"action": "role.added"}, [2, 0]),
        ({"action": "role"}, []),
        ({"requestId": REQUEST}, [3, 1]),
        ({"requestId": REQUEST, "actorId": BEN}, [3]),
        ({"actorId": ANN, "targetId": BEN}, [4, 0]),
        ({"actorId": ANN, "targetId": BEN, "action": "role.added"}, [0]),
        ({"since": iso(FIRST_MS + 2_000)}, [5, 4, 3, 2]),
        ({"before": iso(FIRST_MS + 2_000)}, [1, 0]),
        (
            {"since": iso(FIRST_MS + 1_000), "before": iso(FIRST_MS + 4_000), "action": "permission.granted"},
            [3, 1],
        ),
    ],
)
async def test_entries_are_found(root: Player, query: dict[str, object], numbers: list[int]) -> None:
    assert await found(root, **query) == numbers


@in_one_world("request_id", ["a2b4f3d0-1111-4222-8333-444455556666", "My.Own_id-1", "x" * 128, None])
async def test_a_request_is_found_by_the_id_of_its_answer(world: World, request_id: str | None) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    headers = {} if request_id is None else {"x-request-id": request_id}
    path = f"/v1/admin/users/{ann.id}/permissions"
    answer = await root.ask("POST", path, {"node": "shop:manage"}, headers=headers)
    shown = answer.headers["x-request-id"]
    if request_id is not None:
        assert shown == request_id
        assert (await root.get(AUDIT, requestId=shown.swapcase()))["items"] == []
    (entry,) = (await root.get(AUDIT, requestId=shown))["items"]
    assert (entry["action"], entry["requestId"]) == ("permission.granted", shown)


@in_one_world(
    "query",
    [
        "actorId=Ann",
        "requestId=a%20b",
        "requestId=",
        f"requestId={'x' * 129}",
        "requestId=a%0A",
        "since=yesterday",
        "before=2026-01-01",
        f"action={'x' * 65}",
        "since=%00",
    ],
)
async def test_a_bad_filter_of_the_audit_trail_is_refused(root: Player, query: str) -> None:
    assert await root.refused("GET", f"{AUDIT}?{query}") == (400, "BAD_QUERY")


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (WantedAudit(limit=50), "audit_log_by_time"),
        (WantedAudit(actor_id=ANN, limit=50), "audit_log_by_actor"),
        (WantedAudit(target_id=ANN, limit=50), "audit_log_by_target"),
        (WantedAudit(action="cape.deleted", limit=50), "audit_log_by_action"),
        (WantedAudit(request_id=REQUEST, limit=50), "audit_log_by_request"),
    ],
)
async def test_each_filter_has_its_index(world: World, wanted: WantedAudit, index: str) -> None:
    async def scans(conn: Connection) -> dict[str, int]:
        await conn.execute(
            "INSERT INTO audit_log (id, at_ms, actor_id, action, target_id, request_id, detail)"
            " SELECT lpad(to_hex(n), 24, '0'), n, md5((n % 99)::text), 'a' || n % 99, md5((n % 98)::text),"
            " lpad(to_hex(n), 24, '0'), '{}'"
            " FROM generate_series(1, 5000) AS n"
        )
        await conn.execute("ANALYZE audit_log")
        for _ in range(7):  # a plan for any parameters is made after five
            await read_audit(conn, wanted)
        # What this transaction has done is not yet in the statistics of others.
        rows = await conn.fetch(
            "SELECT relname, pg_stat_get_xact_numscans(oid) AS scans FROM pg_class"
            " WHERE relname IN ('audit_log', $1)",
            index,
        )
        return {row["relname"]: row["scans"] for row in rows}

    found = await world.service.database.transact(scans)
    assert (found["audit_log"], found[index] >= 7) == (0, True)
