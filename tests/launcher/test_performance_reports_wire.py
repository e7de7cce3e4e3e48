"""Wire: performance reports, sent by launchers and read by those who track versions."""

import json

import pytest
import trio

from actors.launcher import units_reports
from actors.launcher.units_reports import KEPT_A_DAY, KEPT_DAYS, REPORT_MAX_BYTES
from actors.time import DAY_MS
from tests.support.jobs import job_named
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

SEND, LIST = "/v1/launcher/performance-reports", "/v1/admin/launcher/performance-reports"


async def tracker(world: World) -> Player:
    player = await world.player("Tracy")
    await world.grant(player, "versions:track")
    return player


def later(world: World, ms: int, *players: Player) -> None:
    """Let time pass, and give the players tokens of then."""
    world.advance(ms)
    for player in players:
        player.headers = {"authorization": f"Bearer {world.token(player.id, player.name)}"}


async def test_a_report_is_kept_as_it_came(world: World) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    report = {"launcherVersion": "1.2.3", "platform": "linux", "fps": [59.9, 1e3], "x": {"deep": None}}
    sent = await ann.do("POST", SEND, report, status=202)
    (item,) = (await tracy.get(LIST))["items"]
    created_at = item.pop("createdAt")
    assert created_at.endswith("Z")
    assert item == {
        "id": sent["id"], "userId": ann.id, "launcherVersion": "1.2.3", "platform": "linux", "report": report,
    }  # fmt: skip


@pytest.mark.parametrize("named", [None, 7, "", "x" * 65, "two\nlines", {}], ids=repr)
async def test_what_is_no_short_line_sorts_nothing(world: World, named: object) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    await ann.do("POST", SEND, {"launcherVersion": named, "platform": named})
    listed = await tracy.get(LIST)
    assert (listed["items"][0]["launcherVersion"], listed["items"][0]["platform"]) == (None, None)
    assert listed["totals"] == [{"platform": None, "launcherVersion": None, "reports": 1}]


@in_one_world(
    ("content", "refused"),
    [
        (b"[]", (422, "VALIDATION_FAILED")),
        (b'"text"', (422, "VALIDATION_FAILED")),
        (b"{", (400, "MALFORMED_JSON")),
        (b'{"a":1,"a":2}', (400, "MALFORMED_JSON")),
        (b'{"a":' * 32 + b"{}" + b"}" * 32, (400, "MALFORMED_JSON")),
        (b'{"a":"%s"}' % (b"x" * (REPORT_MAX_BYTES - 7)), (413, "PAYLOAD_TOO_LARGE")),
    ],
    ids=["array", "text", "cut", "twice", "deep", "long"],
)
async def test_a_report_that_is_no_bounded_json_object_is_refused(
    world: World, content: bytes, refused: tuple[int, str]
) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    assert await ann.refused("POST", SEND, content=content) == refused
    assert (await tracy.get(LIST))["items"] == []


async def test_the_largest_and_the_deepest_are_taken(world: World) -> None:
    ann = await world.player("Ann")
    for content in (
        b'{"a":"%s"}' % (b"x" * (REPORT_MAX_BYTES - 8)),
        b'{"a":' * 31 + b"{}" + b"}" * 31,
    ):
        assert (await ann.ask("POST", SEND, content=content)).status_code == 202


async def test_a_repeat_with_its_key_is_the_same_report(world: World) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    key = {"idempotency-key": "one"}
    answers = [(await ann.ask("POST", SEND, {"n": 1}, headers=key)).json() for _ in range(2)]
    assert answers[0] == answers[1]
    listed = await tracy.get(LIST)
    assert (len(listed["items"]), listed["totals"][0]["reports"]) == (1, 1)


async def test_of_a_day_the_newest_are_kept_and_all_are_counted(world: World) -> None:
    ann, ben, tracy = *(await world.players("Ann", "Ben")), await tracker(world)
    await ben.do("POST", SEND, {"of": "ben"})
    later(world, DAY_MS - world.clock.now_ms() % DAY_MS, ann, tracy)
    for number in range(KEPT_A_DAY + 3):
        await ann.do("POST", SEND, {"number": number})
        world.advance(1_000)
    listed = await tracy.get(LIST, userId=ann.id, limit=100)
    assert [item["report"]["number"] for item in listed["items"]] == [*range(KEPT_A_DAY + 2, 2, -1)]
    assert listed["totals"] == [{"platform": None, "launcherVersion": None, "reports": KEPT_A_DAY + 4}]
    later(world, DAY_MS, ann, tracy)
    await ann.do("POST", SEND, {"number": 100})
    assert len((await tracy.get(LIST, limit=100))["items"]) == KEPT_A_DAY + 2


async def test_many_at_once_are_not_more_than_the_bound(world: World) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    async with trio.open_nursery() as nursery:
        for number in range(KEPT_A_DAY + 10):
            nursery.start_soon(ann.do, "POST", SEND, {"number": number})
    listed = await tracy.get(LIST, limit=100)
    assert (len(listed["items"]), listed["totals"][0]["reports"]) == (KEPT_A_DAY, KEPT_A_DAY + 10)


async def test_the_bytes_of_a_user_are_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units_reports, "KEPT_BYTES", 3_000)
    ann, ben, tracy = *(await world.players("Ann", "Ben")), await tracker(world)
    await ben.do("POST", SEND, {"x": "y" * 2_000})
    for number in range(4):
        await ann.do("POST", SEND, {"number": number, "x": "y" * 1_000})
    assert [one["report"]["number"] for one in (await tracy.get(LIST, userId=ann.id))["items"]] == [3, 2]
    await ann.do("POST", SEND, {"number": 4, "x": "y" * 5_000})
    assert [one["report"]["number"] for one in (await tracy.get(LIST, userId=ann.id))["items"]] == [4]
    assert len((await tracy.get(LIST, userId=ben.id))["items"]) == 1


async def test_versions_are_counted_on_each_platform(world: World) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    longest = "x" * 64
    for platform, version in (
        ("linux", "1"),
        ("mac", "1"),
        ("linux", "2"),
        ("linux", "1"),
        (longest, longest),
    ):
        await ann.do("POST", SEND, {"launcherVersion": version, "platform": platform})
    listed = await tracy.get(LIST)
    totals = {(one["platform"], one["launcherVersion"]): one["reports"] for one in listed["totals"]}
    assert totals == {("linux", "1"): 2, ("mac", "1"): 1, ("linux", "2"): 1, (longest, longest): 1}


async def test_names_that_are_told_apart_are_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units_reports, "KEYS_A_DAY", 2)
    ann, tracy = await world.player("Ann"), await tracker(world)
    for version in ("1", "2", "3", "4", "1"):
        await ann.do("POST", SEND, {"launcherVersion": version, "platform": "linux"})
    totals = {
        (one["platform"], one["launcherVersion"]): one["reports"] for one in (await tracy.get(LIST))["totals"]
    }
    assert totals == {("linux", "1"): 2, ("linux", "2"): 1, (None, None): 2}


async def test_pages_by_number_by_bytes_and_by_time(world: World) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    filler = "x" * (REPORT_MAX_BYTES - 200)
    for number in range(7):
        await ann.do("POST", SEND, {"number": number, "filler": filler if number % 2 else ""})
        world.advance(1_000)
    seen: list[int] = []
    cursor: str | None = None
    while True:
        asked = {} if cursor is None else {"cursor": cursor}
        page = await tracy.get(LIST, limit=5, **asked)
        assert len(json.dumps(page)) < 1_100_000
        seen += [item["report"]["number"] for item in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == [6, 5, 4, 3, 2, 1, 0]
    since = (await tracy.get(LIST, limit=2))["items"][1]["createdAt"]
    assert [one["report"]["number"] for one in (await tracy.get(LIST, since=since))["items"]] == [6, 5]


@pytest.mark.parametrize(
    "since", ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59-12:00"]
)
async def test_since_the_first_and_the_last_moment(world: World, since: str) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    await ann.do("POST", SEND, {})
    listed = await tracy.get(LIST, since=since)
    assert len(listed["items"]) == len(listed["totals"]) == since.startswith("1970")


@in_one_world("query", ["since=yesterday", "userId=x", "cursor=x"])
async def test_a_query_that_cannot_be_read(world: World, query: str) -> None:
    assert await (await tracker(world)).refused("GET", f"{LIST}?{query}") == (400, "BAD_QUERY")


async def test_they_are_served_so_that_no_browser_shows_them(world: World) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    await ann.do("POST", SEND, {"x": "<script>alert(1)</script>"})
    answer = await tracy.ask("GET", LIST)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_reports_are_listed_for_operators_and_sent_by_users(world: World) -> None:
    ann, nobody = await world.player("Ann"), world.nobody()
    assert await ann.refused("GET", LIST) == (403, "FORBIDDEN")
    assert (await nobody.refused("GET", LIST))[0] == 401
    assert (await nobody.refused("POST", SEND, {}))[0] == 401


async def test_after_thirty_days_they_are_gone(world: World) -> None:
    ann, tracy = await world.player("Ann"), await tracker(world)
    await ann.do("POST", SEND, {"old": True})
    later(world, KEPT_DAYS * DAY_MS + DAY_MS, ann, tracy)
    await ann.do("POST", SEND, {"old": False})
    for name in ("old performance reports", "old counts of performance reports"):
        await job_named(world, name).run()
    listed = await tracy.get(LIST)
    assert [one["report"] for one in listed["items"]] == [{"old": False}]
    assert await world.service.database.read(_days_counted) == 1


async def _days_counted(conn) -> int:
    return int(await conn.fetchval("SELECT count(*) FROM performance_report_counts"))
