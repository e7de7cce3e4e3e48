"""Wire: profiles shared by a code (contract §8)."""

import trio

from actors.users.units_shares import MANIFEST_MAX_BYTES, SHARE_TTL_MS, new_code
from tests.support.one_world import in_one_world
from tests.support.world import Player, World
from tests.users.play import PROFILE, SHARES


def public(code: str) -> str:
    return f"/v1/public/profile-shares/{code}"


async def share(player: Player, name: str = "Survival") -> str:
    return str((await player.do("POST", SHARES, {**PROFILE, "name": name}, status=201))["code"])


async def test_a_share_is_anybodys_who_has_the_code(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    made = await ann.do("POST", SHARES, PROFILE, status=201)
    assert set(made) == {"code", "name", "createdAt", "expiresAt"}
    assert made["name"] == "Survival"
    assert await ann.get(SHARES) == {"items": [made], "nextCursor": None, "hasMore": False}
    assert (await ben.get(SHARES))["items"] == []
    shown = await world.nobody().get(public(made["code"].lower()))
    assert shown == {**made, "manifest": PROFILE["manifest"]}
    assert await ben.refused("DELETE", f"{SHARES}/{made['code']}") == (404, "NOT_FOUND")
    await ann.do("DELETE", f"{SHARES}/{made['code']}", status=204)
    assert await ann.refused("DELETE", f"{SHARES}/{made['code']}") == (404, "NOT_FOUND")
    assert await world.nobody().refused("GET", public(made["code"])) == (404, "NOT_FOUND")


async def test_a_share_that_is_known_is_not_sent_again(world: World) -> None:
    ann = await world.player("Ann")
    path = public(await share(ann))
    first = await ann.ask("GET", path)
    again = await ann.ask("GET", path, headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code) == (200, 304)


async def test_the_newest_is_first_and_an_expired_one_is_gone(world: World) -> None:
    ann = await world.player("Ann")
    old = await share(ann, "old")
    world.clock.advance(SHARE_TTL_MS - 60_000)
    renewed = Player(world, ann.id, "Ann", world.token(ann.id, "Ann"))
    await share(renewed, "new")
    assert [one["name"] for one in (await renewed.get(SHARES))["items"]] == ["new", "old"]
    world.clock.advance(60_000)
    assert [one["name"] for one in (await renewed.get(SHARES))["items"]] == ["new"]
    assert await renewed.refused("GET", public(old)) == (404, "NOT_FOUND")
    assert await renewed.refused("DELETE", f"{SHARES}/{old}") == (404, "NOT_FOUND")


async def test_many_shares_come_in_pages(world: World) -> None:
    """Those of one millisecond too: nothing is left out or there twice."""
    ann = await world.player("Ann")
    await world.grant(ann, "profile-share.max", value=60)
    world.clock.stop()
    made = {await share(ann, f"{number}") for number in range(51)}
    first = await ann.get(SHARES)
    assert (len(first["items"]), first["hasMore"]) == (50, True)
    last = await ann.get(SHARES, cursor=first["nextCursor"])
    assert (len(last["items"]), last["nextCursor"], last["hasMore"]) == (1, None, False)
    assert {one["code"] for one in first["items"] + last["items"]} == made
    assert len((await ann.get(SHARES, limit=2))["items"]) == 2
    assert await ann.refused("GET", f"{SHARES}?limit=few") == (400, "BAD_QUERY")


async def test_no_more_than_the_quota_however_many_ask_at_once(world: World) -> None:
    ann = await world.player("Ann")
    statuses: list[int] = []

    async def ask() -> None:
        statuses.append((await ann.ask("POST", SHARES, PROFILE)).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(30):
            nursery.start_soon(ask)
    assert sorted(statuses) == [201] * 10 + [422] * 20
    refused = await ann.ask("POST", SHARES, PROFILE)
    assert (refused.json()["code"], refused.json()["meta"]) == ("QUOTA_EXCEEDED", {"max": 10})
    await world.grant(ann, "profile-share.max", value=11)
    await share(ann)
    assert await ann.refused("POST", SHARES, PROFILE) == (422, "QUOTA_EXCEEDED")
    await world.grant(ann, "profile-share.max", value={"value": 0, "unit": "count"})
    assert await ann.refused("POST", SHARES, PROFILE) == (422, "QUOTA_EXCEEDED")
    assert len((await ann.get(SHARES))["items"]) == 11


@in_one_world(
    ("change", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "   "}, "/name"),
        ({"name": "a\nb"}, "/name"),
        ({"name": "x" * 101}, "/name"),
        ({"name": None}, "/name"),
        ({"manifest": []}, "/manifest"),
        ({"manifest": "{}"}, "/manifest"),
        ({"manifest": None}, "/manifest"),
        ({"manifest": {"x": "x" * MANIFEST_MAX_BYTES}}, "/manifest"),
        ({"manifest": {"x": "\0"}}, "/manifest/x"),
    ],
)
async def test_a_bad_share_is_refused_and_not_kept(
    world: World, change: dict[str, object], pointer: str
) -> None:
    ann = await world.player("Ann")
    answer = await ann.ask("POST", SHARES, {**PROFILE, **change})
    assert (answer.status_code, [error["pointer"] for error in answer.json()["errors"]]) == (422, [pointer])
    assert (await ann.get(SHARES))["items"] == []


async def test_repeating_with_a_key_shares_once(world: World) -> None:
    ann = await world.player("Ann")
    key = {"idempotency-key": "one"}
    first, again = [await ann.ask("POST", SHARES, PROFILE, headers=key) for _ in range(2)]
    assert (first.json(), again.headers.get("idempotent-replayed")) == (again.json(), "true")
    assert len((await ann.get(SHARES))["items"]) == 1


def test_codes_are_read_aloud() -> None:
    assert new_code(lambda count: bytes(range(0, count * 20, 20))) == "0M8W-G4RC-0M8W"
