"""Wire: reports of users, and settling them."""

import pytest
import trio

from actors.reports.units import REASON_MAX, REPORTS_A_DAY
from actors.time import DAY_MS
from tests.support.world import Player, World

REPORTS, ADMIN = "/v1/social/friends/reports", "/v1/admin/reports"
STATUSES = ("open", "dismissed", "actioned")


async def moderator(world: World) -> Player:
    return await world.ranked("Mod", "moderator")


async def test_a_report_reaches_the_moderators(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    mod = await moderator(world)
    made = await ann.do("POST", REPORTS, {"targetId": ben.id.upper(), "reason": "rude"}, status=201)
    assert set(made) == {"id", "targetId", "reason", "createdAt"}
    bare = await ben.do("POST", REPORTS, {"targetId": ann.id}, status=201)
    assert bare["reason"] is None
    page = await mod.get(ADMIN, limit=1)
    assert ([item["id"] for item in page["items"]], page["hasMore"]) == ([bare["id"]], True)
    page = await mod.get(ADMIN, limit=1, cursor=page["nextCursor"])
    assert (page["hasMore"], page["nextCursor"]) == (False, None)
    assert page["items"] == [
        {
            "id": made["id"], "reporterId": ann.id, "reporterName": "Ann", "targetId": ben.id,
            "targetName": "Ben", "reason": "rude", "status": "open", "createdAt": made["createdAt"],
            "settledAt": None, "settledBy": None, "settledByName": None, "settledReason": None,
        }
    ]  # fmt: skip


async def test_what_was_reported_of_and_by_somebody(world: World) -> None:
    ann, ben, cleo = await world.players("Ann", "Ben", "Cleo")
    mod = await moderator(world)
    pairs = ((ann, ben), (cleo, ben), (ann, cleo), (ben, ann))
    made = [(await one.do("POST", REPORTS, {"targetId": other.id}, status=201))["id"] for one, other in pairs]
    await mod.do("PATCH", f"{ADMIN}/{made[0]}", {"status": "dismissed"})
    for query, found in (
        ({"targetId": ben.id}, [1, 0]),
        ({"reporterId": ann.id}, [2, 0]),
        ({"reporterId": ann.id.upper(), "targetId": ben.id}, [0]),
        ({"targetId": ben.id, "status": "open"}, [1]),
        ({"targetId": mod.id}, []),
    ):
        page = await mod.get(ADMIN, **query)
        assert [item["id"] for item in page["items"]] == [made[at] for at in found], query
    first = await mod.get(ADMIN, targetId=ben.id, limit=1)
    rest = await mod.get(ADMIN, targetId=ben.id, cursor=first["nextCursor"])
    assert [item["id"] for page in (first, rest) for item in page["items"]] == [made[1], made[0]]
    assert (await mod.ask("GET", f"{ADMIN}?targetId=nobody")).status_code == 400


@pytest.mark.parametrize("before", STATUSES)
@pytest.mark.parametrize("after", STATUSES)
async def test_every_status_may_follow_every_other(world: World, before: str, after: str) -> None:
    ann, ben = await world.players("Ann", "Ben")
    mod, root = await moderator(world), await world.super_admin()
    made = await ann.do("POST", REPORTS, {"targetId": ben.id})
    path = f"{ADMIN}/{made['id']}"
    for status in (before, after):
        settled = await mod.do("PATCH", path, {"status": status}, status=200)
        assert settled["status"] == status
        assert settled["settledBy"] == (None if status == "open" else mod.id)
        assert (settled["settledAt"] is None) == (status == "open")
    for status in STATUSES:
        listed = (await mod.get(ADMIN, status=status))["items"]
        assert [item["id"] for item in listed] == ([made["id"]] if status == after else [])
    trail = [
        line for line in (await root.get("/v1/admin/audit"))["items"] if line["action"] == "report.settled"
    ]
    moves = [(line["detail"]["before"], line["detail"]["after"]) for line in reversed(trail)]
    assert moves == [move for move in (("open", before), (before, after)) if move[0] != move[1]]
    assert all((line["actorId"], line["targetId"]) == (mod.id, ben.id) for line in trail)


async def test_a_verdict_says_why(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    mod, root = await moderator(world), await world.super_admin()
    path = f"{ADMIN}/{(await ann.do('POST', REPORTS, {'targetId': ben.id, 'reason': 'rude'}))['id']}"
    for body, status, reason in (
        ({"status": "dismissed", "reason": "no proof"}, "dismissed", "no proof"),
        ({"status": "dismissed"}, "dismissed", "no proof"),  # said before, and nothing new
        ({"status": "dismissed", "reason": "they made up"}, "dismissed", "they made up"),
        ({"status": "actioned"}, "actioned", None),
        ({"status": "actioned", "reason": "x" * REASON_MAX}, "actioned", "x" * REASON_MAX),
        ({"status": "open"}, "open", None),
    ):
        settled = await mod.do("PATCH", path, body)
        assert (settled["status"], settled["settledReason"], settled["reason"]) == (status, reason, "rude")
        assert settled["settledByName"] == (None if status == "open" else "Mod")
        assert settled == (await mod.get(ADMIN))["items"][0]
    trail = (await root.get("/v1/admin/audit", action="report.settled"))["items"]
    assert len(trail) == 5
    assert not any("reason" in line["detail"] or "no proof" in str(line) for line in trail)


async def test_who_may_not(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    made = await ann.do("POST", REPORTS, {"targetId": ben.id})
    for player in (ann, ben):
        assert await player.refused("GET", ADMIN) == (403, "FORBIDDEN")
        assert await player.refused("PATCH", f"{ADMIN}/{made['id']}", {"status": "dismissed"}) == (
            403,
            "FORBIDDEN",
        )
    await world.grant(ann, "social:friends.write", negated=True)
    assert await ann.refused("POST", REPORTS, {"targetId": ben.id}) == (403, "FORBIDDEN")
    assert await world.nobody().refused("POST", REPORTS, {"targetId": ben.id}) == (401, "UNAUTHENTICATED")


async def test_a_report_about_a_moderator_is_for_others(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    mod, other, root = await moderator(world), await moderator(world), await world.super_admin()
    targets = (ben, mod, ben, mod, ben)
    made = [(await ann.do("POST", REPORTS, {"targetId": one.id}))["id"] for one in targets]

    async def pages(player: Player, **query: object) -> list[list[int]]:
        """The reports on each page of two, by their place among those that were made."""
        page = await player.get(ADMIN, limit=2, **query)
        found = [page]
        while page["hasMore"]:
            page = await player.get(ADMIN, limit=2, cursor=page["nextCursor"], **query)
            found.append(page)
        return [[made.index(item["id"]) for item in each["items"]] for each in found]

    assert await pages(mod) == [[4, 2], [0]]
    assert await pages(mod, targetId=mod.id) == [[]]
    assert await pages(mod, reporterId=ann.id, status="open") == [[4, 2], [0]]
    for player in (other, root):
        assert await pages(player) == [[4, 3], [2, 1], [0]]
    for status in ("dismissed", "open"):
        assert await mod.refused("PATCH", f"{ADMIN}/{made[1]}", {"status": status}) == (403, "FORBIDDEN")
    await other.do("PATCH", f"{ADMIN}/{made[1]}", {"status": "dismissed"})
    about_root = await ann.do("POST", REPORTS, {"targetId": root.id})
    assert (await root.get(ADMIN))["items"][0]["id"] == about_root["id"]
    await root.do("PATCH", f"{ADMIN}/{about_root['id']}", {"status": "dismissed"}, status=200)


async def test_reports_that_are_none(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    unknown = "00000000-0000-4000-8000-000000000000"
    assert await ann.refused("POST", REPORTS, {"targetId": unknown}) == (404, "NOT_FOUND")
    for target in (ann.id, "nonsense", None):
        assert await ann.refused("POST", REPORTS, {"targetId": target}) == (422, "VALIDATION_FAILED")
    for body in ({}, {"targetId": ben.id, "reason": "x" * 501}):
        assert await ann.refused("POST", REPORTS, body) == (422, "VALIDATION_FAILED")
    assert (await ann.do("POST", REPORTS, {"targetId": ben.id, "reason": "x" * 500}))["reason"] == "x" * 500


async def test_settlements_that_are_none(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    mod = await moderator(world)
    made = await ann.do("POST", REPORTS, {"targetId": ben.id})
    for id in ("f" * 24, "nonsense"):
        assert await mod.refused("PATCH", f"{ADMIN}/{id}", {"status": "open"}) == (404, "NOT_FOUND")
    for body in (
        {},
        {"status": "closed"},
        {"status": None},
        {"status": "dismissed", "reason": ""},
        {"status": "dismissed", "reason": "x" * (REASON_MAX + 1)},
        {"status": "open", "reason": "what for?"},
    ):
        assert await mod.refused("PATCH", f"{ADMIN}/{made['id']}", body) == (422, "VALIDATION_FAILED")
    for query in ("status=closed", "cursor=x"):
        assert await mod.refused("GET", f"{ADMIN}?{query}") == (400, "BAD_QUERY")


async def test_twenty_a_day_and_no_more_at_once(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    statuses: list[int] = []

    async def report() -> None:
        statuses.append((await ann.ask("POST", REPORTS, {"targetId": ben.id})).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(report)
    assert sorted(statuses) == [201] * REPORTS_A_DAY + [422] * (50 - REPORTS_A_DAY)
    assert await ann.refused("POST", REPORTS, {"targetId": ben.id}) == (422, "QUOTA_EXCEEDED")
    world.clock.advance(DAY_MS)
    assert (
        await ann.ask(
            "POST",
            REPORTS,
            {"targetId": ben.id},
            headers={"authorization": "Bearer " + world.token(ann.id, "Ann")},
        )
    ).status_code == 201
