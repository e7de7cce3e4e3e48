"""Wire: the hosts that launchers may talk to."""

import trio

from tests.support.world import World

READ = "/v1/public/launcher/network-guard-allowlist"
PUT = "/v1/admin/launcher/network-guard-allowlist"
CDNS = {
    "cdn.modrinth.com",
    "edge.forgecdn.net",
    "mediafilez.forgecdn.net",
    "api.modrinth.com",
    "api.curseforge.com",
}


async def test_before_it_is_put_it_has_what_launchers_need(world: World) -> None:
    shown = await world.nobody().get(READ)
    assert shown["version"] == 1
    assert {"127.0.0.1", *CDNS} == set(shown["hosts"])


async def test_what_is_put_is_told_to_all(world: World) -> None:
    root = await world.super_admin()
    put = await root.do(
        "PUT", PUT, {"hosts": ["*.Example.org", "b.example.org", "b.example.org."]}, status=200
    )
    assert put["version"] == 2
    assert set(put["hosts"]) == {"*.example.org", "b.example.org", "127.0.0.1", *CDNS}
    assert await world.nobody().get(READ) == put
    entry = (await root.get("/v1/admin/audit"))["items"][0]
    assert entry["action"] == "allowlist.changed"
    assert entry["detail"] == {
        "version": 2, "added": ["*.example.org", "b.example.org"], "removed": [], "addedCount": 2, "removedCount": 0,
    }  # fmt: skip


async def test_the_same_again_changes_nothing(world: World) -> None:
    root = await world.super_admin()
    first = await root.do("PUT", PUT, {"hosts": ["a.example.org"]})
    world.advance(1_000)
    assert await root.do("PUT", PUT, {"hosts": ["A.example.org"]}) == first
    entries = (await root.get("/v1/admin/audit"))["items"]
    assert [entry["action"] for entry in entries].count("allowlist.changed") == 1


async def test_nothing_that_launchers_need_can_be_left_out(world: World) -> None:
    root = await world.super_admin()
    await root.do("PUT", PUT, {"hosts": ["a.example.org"]})
    assert set((await root.do("PUT", PUT, {"hosts": []}))["hosts"]) == {"127.0.0.1", *CDNS}


async def test_caches_ask_again_and_get_304_until_it_changes(world: World) -> None:
    root, nobody = await world.super_admin(), world.nobody()
    first = await nobody.ask("GET", READ)
    assert first.headers["cache-control"] == "public, max-age=300"
    known = {"if-none-match": first.headers["etag"]}
    assert (await nobody.ask("GET", READ, headers=known)).status_code == 304
    put = await root.ask("PUT", PUT, {"hosts": ["a.example.org"]})
    again = await nobody.ask("GET", READ, headers=known)
    assert (again.status_code, again.headers["etag"]) == (200, put.headers["etag"])


async def test_of_two_who_change_the_same_list_one_is_refused(world: World) -> None:
    root = await world.super_admin()
    etag = (await root.ask("GET", READ)).headers["etag"]
    statuses: list[int] = []

    async def put(host: str) -> None:
        answer = await root.ask("PUT", PUT, {"hosts": [host]}, headers={"if-match": etag})
        statuses.append(answer.status_code)
        if answer.status_code == 409:
            assert (answer.json()["code"], answer.json()["meta"]) == ("REVISION_CONFLICT", {"revision": 2})

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(put, f"h{number}.example.org")
    assert sorted(statuses) == [200] + [409] * 9
    assert (await root.get(READ))["version"] == 2


async def test_if_match_is_compared_strongly(world: World) -> None:
    root = await world.super_admin()
    etag = (await root.ask("GET", READ)).headers["etag"]
    for condition, status in ((f"W/{etag}", 409), ('"other"', 409), ("*", 200), (f'"other", {etag}', 409)):
        answer = await root.ask("PUT", PUT, {"hosts": ["a.example.org"]}, headers={"if-match": condition})
        assert answer.status_code == status, condition
    etag = (await root.ask("GET", READ)).headers["etag"]
    answer = await root.ask("PUT", PUT, {"hosts": []}, headers={"if-match": f'"other", {etag}'})
    assert answer.status_code == 200


async def test_who_may_write_it(world: World) -> None:
    ann = await world.player("Ann")
    assert await ann.refused("PUT", PUT, {"hosts": []}) == (403, "FORBIDDEN")
    assert (await world.nobody().refused("PUT", PUT, {"hosts": []}))[0] == 401
    await world.grant(ann, "versions:publish")
    assert (await ann.do("PUT", PUT, {"hosts": ["a.example.org"]}))["version"] == 2


async def test_a_bad_host_is_refused_by_its_place(world: World) -> None:
    root = await world.super_admin()
    for hosts, pointer, code in (
        (["1.2.3.4"], "/hosts/0", "NOT_ALLOWED"),
        (["example.org:443"], "/hosts/0", "BAD_FORMAT"),
        (["a.example.org", "*.com"], "/hosts/1", "NOT_ALLOWED"),
        ([f"h{number}.example.org" for number in range(501)], "/hosts", "TOO_MANY"),
    ):
        answer = await root.ask("PUT", PUT, {"hosts": hosts})
        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["pointer"], error["code"]) == (422, pointer, code)
    assert (await root.get(READ))["version"] == 1
