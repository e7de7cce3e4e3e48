"""Wire: releases are written, published, activated, yanked and deleted, as the table of moves says."""

from typing import Any

import pytest
import trio

from actors.versions import units_pointers
from actors.versions.releases import ARTIFACTS_MAX
from persistence.connection import Connection
from tests.support.one_world import in_one_world
from tests.support.world import Player, World
from tests.versions.play import CHANNELS, FILE, RELEASES, SCOPE, a_publisher

SIGNED = {"signature": "A" * 86 + "==", "keyId": "k1"}


async def flaws(player: Player, body: Any) -> list[tuple[str, str]]:
    response = await player.ask("POST", RELEASES, body)
    assert response.status_code == 422, response.text
    return [(one["pointer"], one["code"]) for one in response.json()["errors"]]


@in_one_world(
    ("change", "pointer", "code"),
    [
        ({"version": "v1.0.0"}, "/version", "BAD_FORMAT"),
        ({"version": "1.2"}, "/version", "BAD_FORMAT"),
        ({"version": "1.0.0-" + "a" * 60}, "/version", "BAD_FORMAT"),
        ({"version": "01.0.0"}, "/version", "BAD_FORMAT"),
        ({"minVersion": "2.0.0"}, "/minVersion", "OUT_OF_RANGE"),
        ({"minVersion": "x"}, "/minVersion", "BAD_FORMAT"),
        ({"scope": {"type": "launcher", "id": "a b"}}, "/scope/id", "BAD_FORMAT"),
        ({"scope": {"type": "launcher", "id": "."}}, "/scope/id", "BAD_FORMAT"),
        ({"scope": {"type": "launcher", "id": ".."}}, "/scope/id", "BAD_FORMAT"),
        ({"rollout": {"percentage": 101}}, "/rollout/percentage", "OUT_OF_RANGE"),
        ({"notes": "é" * 16_385}, "/notes", "TOO_LONG"),
        ({"artifacts": [FILE | {"fileName": f"f{n}"} for n in range(65)]}, "/artifacts", "TOO_MANY"),
        ({"artifacts": [FILE, FILE | {"fileName": "b"}]}, "/artifacts/1/platform", "DUPLICATE"),
        ({"artifacts": [FILE, FILE | {"arch": "arm64"}]}, "/artifacts/1/fileName", "DUPLICATE"),
        ({"artifacts": [FILE | {"platform": "beos"}]}, "/artifacts/0/platform", "UNKNOWN_VALUE"),
        ({"artifacts": [FILE | {"arch": "z80"}]}, "/artifacts/0/arch", "UNKNOWN_VALUE"),
        ({"artifacts": [FILE | {"kind": "delta"}]}, "/artifacts/0/fromVersion", "BAD_FORMAT"),
        (
            {"artifacts": [FILE | {"kind": "delta", "fromVersion": "1.0.0"}]},
            "/artifacts/0/fromVersion",
            "OUT_OF_RANGE",
        ),
        ({"artifacts": [FILE | {"fromVersion": "0.9.0"}]}, "/artifacts/0/fromVersion", "NOT_ALLOWED"),
        ({"artifacts": [FILE | {"fileName": "../../setup.exe"}]}, "/artifacts/0/fileName", "BAD_FORMAT"),
        ({"artifacts": [FILE | {"fileName": ".."}]}, "/artifacts/0/fileName", "BAD_FORMAT"),
        ({"artifacts": [FILE | {"fileName": ""}]}, "/artifacts/0/fileName", "BAD_FORMAT"),
        ({"artifacts": [FILE | {"url": "http://files.example/a"}]}, "/artifacts/0/url", "BAD_FORMAT"),
        ({"artifacts": [FILE | {"sizeBytes": 0}]}, "/artifacts/0/sizeBytes", "OUT_OF_RANGE"),
        ({"artifacts": [FILE | {"sha256": "G" * 64}]}, "/artifacts/0/sha256", "BAD_FORMAT"),
        ({"artifacts": [FILE | {"signature": "AA==", "keyId": "k"}]}, "/artifacts/0/signature", "BAD_FORMAT"),
        ({"artifacts": [FILE | {"keyId": "k" * 101}]}, "/artifacts/0/keyId", "TOO_LONG"),
        ({"artifacts": [FILE | SIGNED | {"keyId": "a\x1bb"}]}, "/artifacts/0/keyId", "BAD_TEXT"),
        ({"artifacts": [FILE | SIGNED | {"keyId": ""}]}, "/artifacts/0/keyId", "REQUIRED"),
        (
            {"artifacts": [FILE | {"signature": SIGNED["signature"]}]},
            "/artifacts/0/keyId",
            "REQUIRED",
        ),
        (
            {"scope": {"type": "service", "id": "main"}, "artifacts": [FILE | SIGNED | {"sha256": None}]},
            "/artifacts/0/sha256",
            "REQUIRED",
        ),
        ({"scope": {"type": "runtime", "id": "main"}}, "/artifacts/0/signature", "REQUIRED"),
        ({"status": "published", "artifacts": [FILE | {"url": None}]}, "/artifacts/0/url", "REQUIRED"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_what_no_release_may_be(world: World, change: Any, pointer: str, code: str) -> None:
    publisher = await a_publisher(world)
    body = {"scope": SCOPE, "version": "1.0.0", "artifacts": [FILE]} | change
    assert (pointer, code) in await flaws(publisher.player, body)


async def test_a_service_is_signed_and_a_salt_is_never_taken(world: World) -> None:
    publisher = await a_publisher(world)
    release = await publisher.release(
        scope={"type": "service", "id": "main"},
        artifacts=[FILE | SIGNED],
        rollout={"percentage": 10, "salt": "mine"},
    )
    assert release["rollout"]["percentage"] == 10
    assert len(release["rollout"]["salt"]) == 32
    assert release["status"] == "draft"


async def test_a_hash_is_taken_in_either_case(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[FILE | {"sha256": "AbCdEf01" * 8}])
    assert release["artifacts"][0]["sha256"] == "abcdef01" * 8


async def test_a_scope_of_before_that_no_address_can_name_goes_on(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release()

    async def rename(conn: Connection) -> None:
        await conn.execute("UPDATE releases SET scope_id = '..'")

    await world.service.database.transact(rename)
    assert (await pia.changed(release, notes="new"))["notes"] == "new"
    assert (await pia.activate(release | {"scope": SCOPE | {"id": ".."}}))["revision"] == 1


async def test_a_version_is_there_once_in_its_scope(world: World) -> None:
    publisher = await a_publisher(world)
    await publisher.release()
    body = {"scope": SCOPE, "version": "1.0.0"}
    assert await publisher.player.refused("POST", RELEASES, body) == (409, "INVALID_STATE")
    await publisher.release(scope={"type": "launcher", "id": "other"})


async def test_what_is_published_keeps_its_version_and_files(world: World) -> None:
    publisher = await a_publisher(world)
    release = await publisher.release()
    path = f"{RELEASES}/{release['releaseId']}"
    assert (await publisher.changed(release, version="1.0.1"))["version"] == "1.0.1"
    published = await publisher.changed(release, status="published")
    assert published["publishedAt"] is not None
    changed = await publisher.changed(
        release, notes="new", updatePolicy="mandatory", minVersion="0.5.0", rollout={"percentage": 5}
    )
    assert (changed["notes"], changed["rollout"]["percentage"]) == ("new", 5)
    for refused in ({"version": "1.0.2"}, {"artifacts": []}, {"status": "draft"}):
        assert await publisher.player.refused("PATCH", path, refused) == (409, "INVALID_STATE")
    assert (await publisher.changed(release, status="yanked"))["status"] == "yanked"
    for refused in ({"status": "published"}, {"notes": "again"}, {"status": "draft"}):
        assert await publisher.player.refused("PATCH", path, refused) == (409, "INVALID_STATE")


async def test_the_trail_has_what_changes_for_clients_of_a_published_release(world: World) -> None:
    publisher = await a_publisher(world)
    draft = await publisher.release()
    await publisher.changed(draft, updatePolicy="recommended")
    await publisher.changed(draft, status="published")
    for changes in (
        {"notes": "new"},
        {"updatePolicy": "recommended"},  # as it is
        {"updatePolicy": "mandatory", "minVersion": "0.5.0", "rollout": {"percentage": 5}, "notes": "newer"},
    ):
        await publisher.changed(draft, **changes)
    root = await world.super_admin()
    trail = (await root.get("/v1/admin/audit"))["items"]
    said = [one for one in trail if one["action"].startswith("release.")]
    assert [one["action"] for one in said] == ["release.changed", "release.published"]
    assert (said[0]["actorId"], said[0]["detail"]["releaseId"]) == (publisher.player.id, draft["releaseId"])
    assert said[0]["detail"]["before"] == {
        "updatePolicy": "recommended", "minVersion": None, "percentage": 100,
    }  # fmt: skip
    assert said[0]["detail"]["after"] == {
        "updatePolicy": "mandatory", "minVersion": "0.5.0", "percentage": 5,
    }  # fmt: skip


async def test_the_active_one_is_neither_yanked_nor_deleted(world: World) -> None:
    publisher = await a_publisher(world)
    first = await publisher.published("1.0.0")
    path = f"{RELEASES}/{first['releaseId']}"
    assert await publisher.player.refused("PATCH", path, {"status": "yanked"}) == (409, "INVALID_STATE")
    assert await publisher.player.refused("DELETE", path) == (409, "INVALID_STATE")
    second = await publisher.published("1.1.0")
    await publisher.changed(first, status="yanked")
    body = {"scopeType": "launcher", "scopeId": "main", "channel": "stable", "releaseId": first["releaseId"]}
    assert await publisher.player.refused("POST", CHANNELS, body) == (409, "INVALID_STATE")
    assert (await publisher.player.ask("DELETE", path)).status_code == 204
    assert await publisher.player.refused("GET", path) == (404, "NOT_FOUND")
    (pointer,) = (await publisher.player.get(CHANNELS))["items"]
    assert (pointer["releaseId"], pointer["previousReleaseId"]) == (second["releaseId"], None)


async def test_drafts_are_for_those_who_write(world: World) -> None:
    publisher, ann = await a_publisher(world), await world.player("Ann")
    draft = await publisher.release("2.0.0")
    shown = await publisher.published("1.0.0")
    assert [one["version"] for one in (await ann.get(RELEASES))["items"]] == ["1.0.0"]
    assert (await ann.get(RELEASES, status="draft"))["items"] == []
    assert await ann.refused("GET", f"{RELEASES}/{draft['releaseId']}") == (404, "NOT_FOUND")
    seen = await ann.get(f"{RELEASES}/{shown['releaseId']}")
    assert (seen["rollout"]["salt"], seen["createdBy"]) == (None, None)
    assert len((await publisher.player.get(RELEASES, scopeType="launcher", scopeId="main"))["items"]) == 2


async def test_publishing_needs_its_own_node(world: World) -> None:
    writer = await world.player("Will")
    await world.grant(writer, "versions:write")
    body = {"scope": SCOPE, "version": "1.0.0", "artifacts": [FILE]}
    refusal = await writer.ask("POST", RELEASES, body | {"status": "published"})
    assert (refusal.status_code, refusal.json()["meta"]) == (403, {"permission": "versions:publish"})
    release = await writer.do("POST", RELEASES, body, status=201)
    path = f"{RELEASES}/{release['releaseId']}"
    assert await writer.refused("PATCH", path, {"status": "published"}) == (403, "FORBIDDEN")
    publisher = await a_publisher(world)
    await publisher.changed(release, status="published")
    assert (await writer.do("PATCH", path, {"status": "yanked"}))["status"] == "yanked"
    release = await writer.do("POST", RELEASES, body | {"version": "1.0.1"}, status=201)
    activation = {
        "scopeType": "launcher", "scopeId": "main", "channel": "stable", "releaseId": release["releaseId"],
    }  # fmt: skip
    assert await writer.refused("POST", CHANNELS, activation) == (403, "FORBIDDEN")


async def test_the_revision_has_no_gap_however_many_activate(world: World) -> None:
    publisher = await a_publisher(world)
    releases = [await publisher.release(f"1.{n}.0") for n in range(8)]
    async with trio.open_nursery() as nursery:
        for release in releases:
            nursery.start_soon(publisher.activate, release)
    (pointer,) = (
        await publisher.player.get(
            CHANNELS, scopeType="launcher", scopeId="main", channel="stable", history="true"
        )
    )["items"]
    assert [one["revision"] for one in pointer["history"]] == list(range(8, 0, -1))
    assert pointer["revision"] == 8
    assert pointer["history"][0]["releaseId"] == pointer["releaseId"]
    assert pointer["history"][1]["releaseId"] == pointer["previousReleaseId"]


async def test_old_revisions_of_a_channel_go(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units_pointers, "HISTORY_KEPT", 3)
    pia = await a_publisher(world)
    one, two = await pia.release("1.0.0"), await pia.release("1.1.0")
    other = await pia.activate(one, "beta")
    for release in (one, two) * 3:
        pointer = await pia.activate(release)
    query = {"scopeType": "launcher", "scopeId": "main", "history": "true"}
    (stable,) = (await pia.player.get(CHANNELS, channel="stable", **query))["items"]
    assert [entry["revision"] for entry in stable["history"]] == [6, 5, 4]
    assert (pointer["revision"], pointer["previousReleaseId"]) == (6, one["releaseId"])
    (beta,) = (await pia.player.get(CHANNELS, channel="beta", **query))["items"]
    assert [entry["revision"] for entry in beta["history"]] == [other["revision"]]


async def test_the_same_again_changes_nothing_and_an_expected_revision_is_compared(world: World) -> None:
    publisher = await a_publisher(world)
    release, other = await publisher.release("1.0.0"), await publisher.release("1.1.0")
    body = {
        "scopeType": "launcher", "scopeId": "main", "channel": "stable", "releaseId": release["releaseId"],
    }  # fmt: skip
    first = await publisher.player.ask("POST", CHANNELS, body | {"expectedRevision": 0})
    again = await publisher.player.ask("POST", CHANNELS, body)
    assert (first.status_code, again.status_code, first.json()) == (201, 200, again.json())
    stale = body | {"releaseId": other["releaseId"], "expectedRevision": 0}
    assert await publisher.player.refused("POST", CHANNELS, stale) == (409, "REVISION_CONFLICT")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"channel": "Stable"}, 422),
        ({"scopeId": "a b"}, 422),
        ({"releaseId": "x"}, 422),
        ({"releaseId": "0" * 24}, 404),
        ({"scopeId": "b"}, 404),
    ],
    ids=str,
)
async def test_what_no_channel_points_to(world: World, change: Any, status: int) -> None:
    publisher = await a_publisher(world)
    release = await publisher.release()
    body = {
        "scopeType": "launcher", "scopeId": "main", "channel": "stable", "releaseId": release["releaseId"],
    }  # fmt: skip
    assert (await publisher.player.ask("POST", CHANNELS, body | change)).status_code == status


async def test_a_draft_without_bytes_cannot_be_activated(world: World) -> None:
    publisher = await a_publisher(world)
    release = await publisher.release(artifacts=[FILE | {"url": None}])
    body = {
        "scopeType": "launcher", "scopeId": "main", "channel": "stable", "releaseId": release["releaseId"],
    }  # fmt: skip
    assert await publisher.player.refused("POST", CHANNELS, body) == (422, "VALIDATION_FAILED")


def test_as_many_files_as_the_description_says() -> None:
    assert ARTIFACTS_MAX == 64


async def test_a_page_is_bounded_in_bytes(world: World) -> None:
    pia = await a_publisher(world)
    files = [
        FILE
        | {
            "fileName": f"f{n}",
            "kind": "delta",
            "fromVersion": f"0.0.{n}",
            "url": f"https://a.b/{'c' * 1_900}",
        }
        for n in range(ARTIFACTS_MAX)
    ]
    made = []
    for n in range(7):
        world.advance(10)
        made.append(await pia.release(f"1.0.{n}", artifacts=files))
    page = await pia.player.get(RELEASES, limit=200)
    assert (len(page["items"]), page["hasMore"]) == (5, True)
    rest = await pia.player.get(RELEASES, limit=200, cursor=page["nextCursor"])
    assert (rest["hasMore"], page["items"] + rest["items"]) == (False, made[::-1])


async def test_readers_are_not_told_who_publishes(world: World) -> None:
    pia, ann = await a_publisher(world), await world.player("Ann")
    release = await pia.published()
    query = {"scopeType": "launcher", "scopeId": "main", "channel": "stable", "history": "true"}
    for reader, name in ((pia.player, pia.player.id), (ann, None)):
        (pointer,) = (await reader.get(CHANNELS, **query))["items"]
        assert (pointer["activatedBy"], pointer["history"][0]["activatedBy"]) == (name, name)
        assert (await reader.get(f"{RELEASES}/{release['releaseId']}"))["createdBy"] == name
