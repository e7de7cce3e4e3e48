"""Wire: clients ask what to install; the answer is signed, current, and tells nothing of drafts."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from actors.canonical_json import canonical
from actors.time import DAY_MS, parse_iso
from actors.versions.signing import ReleaseKey
from routes.edge.identity.keys import RELEASES_FILE
from routes.versions.events import KEPT_DAYS
from tests.support.jobs import job_named
from tests.support.world import World, open_world
from tests.versions.play import (
    ASSETS,
    DOWNLOAD,
    EVENTS,
    FILE,
    KEYS,
    RESOLVE,
    TOLD,
    a_publisher,
    resolved,
)

CHANNEL = "scopeType=launcher&scopeId=main&channel=stable"
HOUR_MS = 3_600_000


async def key_of(world: World, answer: Any) -> Ed25519PublicKey:
    keys = {one["keyId"]: one for one in (await world.nobody().get(KEYS))["items"]}
    key = keys[answer["metadata"]["keyId"]]
    assert (key["algorithm"], key["active"]) == ("Ed25519", True)
    return Ed25519PublicKey.from_public_bytes(base64.b64decode(key["publicKey"]))


def signed(answer: Any) -> tuple[bytes, bytes]:
    """(signature, what was signed)."""
    metadata = dict(answer["metadata"])
    signature = base64.b64decode(metadata.pop("signature"))
    return signature, canonical(answer | {"metadata": metadata}).encode()


async def test_the_answer_is_signed_by_a_published_key(world: World) -> None:
    publisher = await a_publisher(world)
    release = await publisher.published("1.1.0", notes="<b>&\u2028 ünïcödé 🎉")
    answer = await resolved(world)
    assert (answer["updateAvailable"], answer["targetVersion"], answer["channel"]) == (
        True,
        "1.1.0",
        "stable",
    )
    assert answer["release"]["releaseId"] == release["releaseId"]
    assert answer["artifact"]["sha256"] == FILE["sha256"]
    assert (answer["release"]["rollout"]["salt"], answer["release"]["createdBy"]) == (None, None)
    key = await key_of(world, answer)
    key.verify(*signed(answer))
    for forged in (
        answer | {"mandatoryUpdate": True},
        answer | {"artifact": answer["artifact"] | {"sha256": "1" * 64}},
        answer | {"metadata": answer["metadata"] | {"revision": 2}},
    ):
        with pytest.raises(InvalidSignature):
            key.verify(*signed(forged))
    # RFC 8785 of this answer is what Python's own encoder makes of it, sorted.
    metadata = {name: value for name, value in answer["metadata"].items() if name != "signature"}
    plain = json.dumps(
        answer | {"metadata": metadata}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    key.verify(signed(answer)[0], plain.encode())


async def test_an_answer_ends_within_25_hours(world: World) -> None:
    publisher = await a_publisher(world)
    await publisher.published("1.1.0")
    world.clock.stop()
    for minutes in (0, 59, 1, 600):
        world.clock.advance(minutes * 60_000)
        left_ms = parse_iso((await resolved(world))["metadata"]["expiresAt"]) - world.clock.now_ms()
        assert 24 * HOUR_MS < left_ms <= 25 * HOUR_MS


async def test_an_activation_and_a_changed_percentage_are_seen_at_once(world: World) -> None:
    publisher = await a_publisher(world)
    await publisher.published("1.0.0")
    assert (await resolved(world))["updateAvailable"] is False
    second = await publisher.published("1.1.0", rollout={"percentage": 0})
    answer = await resolved(world, clientId="c")
    assert (answer["updateAvailable"], answer["targetVersion"]) == (False, "1.0.0")
    assert answer["metadata"]["revision"] == 2
    await publisher.changed(second, rollout={"percentage": 100}, notes="now all")
    answer = await resolved(world, clientId="c")
    assert (answer["updateAvailable"], answer["release"]["notes"]) == (True, "now all")


async def test_going_back_rises_the_revision_and_leads_back_who_has_a_version_of_ours(world: World) -> None:
    publisher = await a_publisher(world)
    first = await publisher.published("1.0.0")
    await publisher.published("1.1.0")
    await publisher.activate(first)
    answer = await resolved(world, "1.1.0")
    assert (answer["downgrade"], answer["targetVersion"], answer["metadata"]["revision"]) == (
        True,
        "1.0.0",
        3,
    )
    assert (await resolved(world, "7.0.0"))["updateAvailable"] is False


async def test_drafts_and_yanked_ones_are_told_to_nobody(world: World) -> None:
    publisher = await a_publisher(world)
    first = await publisher.published("1.0.0")
    draft = await publisher.release("3.0.0", notes="secret plans")
    await publisher.published("2.0.0")
    await publisher.changed(first, status="yanked")
    nobody = world.nobody()
    answers = [
        (await nobody.ask("GET", f"{RESOLVE}?{CHANNEL}&platform=any&arch=any&version=0.1.0")).text,
        (await nobody.ask("GET", f"{ASSETS}?{CHANNEL}")).text,
    ]
    assert "secret plans" not in "".join(answers)
    for release in (first, draft):
        artifact_id = release["artifacts"][0]["artifactId"]
        assert await nobody.refused("GET", f"{DOWNLOAD}?artifactId={artifact_id}") == (404, "NOT_FOUND")


async def test_a_file_is_where_its_publisher_says(world: World) -> None:
    publisher = await a_publisher(world)
    release = await publisher.published("1.0.0")
    nobody = world.nobody()
    artifact_id = release["artifacts"][0]["artifactId"]
    for query in (f"artifactId={artifact_id.upper()}", f"{CHANNEL}&platform=windows&arch=x64&version=0.9.0"):
        response = await nobody.ask("GET", f"{DOWNLOAD}?{query}")
        assert (response.status_code, response.headers["location"]) == (302, FILE["url"])
        assert response.headers["cache-control"] == "no-store"
    current = f"{CHANNEL}&platform=windows&arch=x64&version=1.0.0"
    assert await nobody.refused("GET", f"{DOWNLOAD}?{current}") == (404, "NOT_FOUND")
    assert await nobody.refused("GET", DOWNLOAD) == (400, "BAD_QUERY")
    assert [one["fileName"] for one in (await nobody.get(f"{ASSETS}?{CHANNEL}"))["items"]] == ["setup.exe"]


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"version": "1.2"}, (400, "BAD_QUERY")),
        ({"version": "v1.2.0"}, (400, "BAD_QUERY")),
        ({"platform": "beos"}, (400, "BAD_QUERY")),
        ({"arch": "z80"}, (400, "BAD_QUERY")),
        ({"scopeType": "thing"}, (400, "BAD_QUERY")),
        ({"clientId": "x" * 129}, (400, "BAD_QUERY")),
        ({"clientId": "%0a"}, (400, "BAD_QUERY")),
        ({"clientId": "x%0a"}, (400, "BAD_QUERY")),
        ({"channel": "beta"}, (404, "NOT_FOUND")),
        ({"scopeId": "other"}, (404, "NOT_FOUND")),
    ],
    ids=str,
)
async def test_a_bad_or_incomplete_question_is_refused(
    world: World, change: dict[str, str], refused: tuple[int, str]
) -> None:
    publisher = await a_publisher(world)
    await publisher.published("1.0.0")
    asked = {
        "scopeType": "launcher", "scopeId": "main", "channel": "stable", "platform": "windows", "arch": "x64",
        "version": "1.0.0", "percentage": "100", "salt": "x",
    }  # fmt: skip
    query = "&".join(f"{name}={value}" for name, value in (asked | change).items())
    assert await world.nobody().refused("GET", f"{RESOLVE}?{query}") == refused
    missing = "&".join(f"{name}={value}" for name, value in asked.items() if name != "version")
    assert await world.nobody().refused("GET", f"{RESOLVE}?{missing}") == (400, "BAD_QUERY")


async def test_the_same_question_has_an_etag(world: World) -> None:
    publisher = await a_publisher(world)
    await publisher.published("1.0.0")
    path = f"{RESOLVE}?{CHANNEL}&platform=windows&arch=x64&version=0.9.0"
    first = await world.nobody().ask("GET", path)
    again = await world.nobody().ask("GET", path, headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, first.headers["cache-control"]) == (304, "public, max-age=60")
    await publisher.published("1.1.0")
    assert (
        await world.nobody().ask("GET", path, headers={"if-none-match": first.headers["etag"]})
    ).status_code == 200


async def test_the_key_of_releases_stays(database_url: str, tmp_path: Path) -> None:
    """Also in a data folder that was made before the key had a file."""

    async def key_of(world: World) -> Any:
        (key,) = (await world.nobody().get(KEYS))["items"]
        return key["publicKey"]

    async with open_world(database_url, tmp_path) as world:
        made = await key_of(world)
        derived = ReleaseKey(world.service.keys.derive("signatures of releases")).public_key
    async with open_world(database_url, tmp_path) as world:
        assert await key_of(world) == made != derived
    (tmp_path / "keys" / RELEASES_FILE).unlink()
    async with open_world(database_url, tmp_path) as world:
        assert await key_of(world) == derived


async def test_what_clients_say_in_the_last_second_is_counted(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        release = await (await a_publisher(world)).published("1.0.0")
        told = {"event": "installed", "releaseId": release["releaseId"], "platform": "linux"}
        await world.nobody().do("POST", TOLD, told, status=202)
    async with open_world(database_url, tmp_path) as world:
        (count,) = (await (await a_publisher(world)).player.get(EVENTS))["items"]
        assert (count["releaseId"], count["count"]) == (release["releaseId"], 1)


@pytest.mark.one_node(because="each node counts downloads by itself until it writes them")
async def test_what_clients_say_is_counted_by_day_and_platform(world: World) -> None:
    publisher = await a_publisher(world)
    release = await publisher.published("1.0.0")
    job = job_named(world, "events of releases")
    told = {"event": "installed", "releaseId": release["releaseId"], "platform": "darwin", "clientId": "c"}
    for body in (
        told,
        told,
        told | {"platform": "beos"},
        told | {"releaseId": "0" * 24},
        told | {"releaseId": "x"},
    ):
        assert await world.nobody().do("POST", TOLD, body, status=202) == {"received": True}
    await job.run()
    await world.nobody().do("POST", TOLD, told | {"error": "x" * 500, "event": "failed"}, status=202)
    await job.run()
    await job.run()
    counts = (await publisher.player.get(EVENTS, releaseId=release["releaseId"]))["items"]
    assert [(one["event"], one["platform"], one["count"]) for one in counts] == [
        ("installed", "macos", 2),
        ("installed", "any", 1),
        ("failed", "macos", 1),
    ]
    assert len((await publisher.player.get(EVENTS))["items"]) == 3
    day = counts[0]["day"]
    assert len((await publisher.player.get(EVENTS, **{"from": day, "to": day}))["items"]) == 3
    assert (await publisher.player.get(EVENTS, to="2020-01-01"))["items"] == []
    for query in ("from=x", "to=99", "releaseId=x"):
        assert await publisher.player.refused("GET", f"{EVENTS}?{query}") == (400, "BAD_QUERY")
    assert await world.nobody().refused("POST", TOLD, told | {"event": "sold"}) == (422, "VALIDATION_FAILED")
    world.advance((KEPT_DAYS + 1) * DAY_MS)
    await job_named(world, "old events of releases").run()
    token = world.token(publisher.player.id, publisher.player.name)
    publisher.player.headers = {"authorization": f"Bearer {token}"}
    assert (await publisher.player.get(EVENTS, **{"from": "2020-01-01"}))["items"] == []


async def test_publishing_is_for_publishers(world: World) -> None:
    publisher, ann = await a_publisher(world), await world.player("Ann")
    await publisher.published("1.0.0")
    assert await ann.refused("GET", EVENTS) == (403, "FORBIDDEN")
    assert await ann.refused("POST", "/v1/versions/releases", {}) == (403, "FORBIDDEN")
    assert await ann.refused("POST", "/v1/versions/channels/active", {}) == (403, "FORBIDDEN")
    assert len((await ann.get("/v1/versions/channels/active"))["items"]) == 1
    assert await world.nobody().refused("GET", "/v1/versions/releases") == (401, "UNAUTHENTICATED")
