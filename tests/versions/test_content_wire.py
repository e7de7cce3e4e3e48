"""Wire: the bytes of artifacts are put here, checked, served and swept."""

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from routes.versions.hosted import HOSTED_FILES
from tests.edge.raw import raw
from tests.support.jobs import job_named
from tests.support.waiting import wait_until
from tests.support.world import World, open_world
from tests.versions.hosting_play import DATA, OCTETS, a_file, content_of, files_of, hosted, put
from tests.versions.play import DOWNLOAD, RELEASES, a_publisher

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
PUBLIC = base64.b64encode(PRIVATE.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
KEYS = f'[{{"keyId":"ours","publicKey":"{PUBLIC}"}}]'


@pytest.mark.both_edges
async def test_what_was_put_is_downloaded(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file()])
    artifact = release["artifacts"][0]
    assert (artifact["hosted"], artifact["sha512"]) == (False, None)
    for _ in range(2):  # the same bytes again
        answer = await put(pia, release)
        assert answer.status_code == 200
        expected = artifact | {"hosted": True, "sha512": hashlib.sha512(DATA).hexdigest()}
        assert answer.json() == expected
    await pia.activate(release)
    nobody, path = world.nobody(), f"{DOWNLOAD}?artifactId={artifact['artifactId']}"
    whole = await nobody.ask("GET", path)
    assert (whole.status_code, whole.content == DATA) == (200, True)
    assert whole.headers["etag"] == f'"{artifact["sha256"]}"'
    assert whole.headers["content-disposition"].startswith('attachment; filename="setup.exe"')
    assert whole.headers["cache-control"] == "public, max-age=60"
    part = await nobody.ask(
        "GET", path, headers={"range": "bytes=699000-", "if-range": whole.headers["etag"]}
    )
    assert (part.status_code, part.content == DATA[699_000:]) == (206, True)
    assert part.headers["content-range"] == "bytes 699000-699999/700000"
    assert (await nobody.ask("GET", path, headers={"range": "bytes=700000-"})).status_code == 416
    several = await nobody.ask("GET", path, headers={"range": "bytes=0-1,5-6"})
    assert (several.status_code, len(several.content)) == (200, len(DATA))
    same = await nobody.ask("GET", path, headers={"if-none-match": whole.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    head = await world.http.head(path)
    assert (head.status_code, head.headers["content-length"], head.content) == (200, "700000", b"")


@pytest.mark.both_edges
async def test_a_repeat_under_its_key_gets_the_first_answer(world: World) -> None:
    """Also when the release takes no bytes any more; the bytes that come are compared, whatever they are named."""
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file()])
    path, headers = content_of(release), OCTETS | {"idempotency-key": "once"}
    first = await pia.player.ask("PUT", path, content=DATA, headers=headers)
    assert (first.status_code, "idempotent-replayed" in first.headers) == (200, False)
    await pia.activate(release)
    again = await pia.player.ask("PUT", path, content=DATA, headers=headers)
    assert (again.status_code, again.headers["idempotent-replayed"]) == (200, "true")
    assert again.content == first.content
    for other in (DATA[:-1] + b"x", DATA[:-1], b""):
        answer = await pia.player.ask("PUT", path, content=other, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert (await put(pia, release)).status_code == 409


async def test_what_is_refused_leaves_its_key_free(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file()])
    path, headers = content_of(release), OCTETS | {"idempotency-key": "once"}
    wrong = await pia.player.ask("PUT", path, content=DATA[:-1] + b"x", headers=headers)
    assert wrong.status_code == 422
    assert (await pia.player.ask("PUT", path, content=DATA, headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("data", "declared", "pointer"),
    [
        (DATA[:-1], {}, "/sizeBytes"),
        (DATA + b"x", {}, "/sizeBytes"),
        (DATA[:-1] + b"x", {}, "/sha256"),
        (b"", {}, "/sizeBytes"),
    ],
)
async def test_other_bytes_than_named_do_not_count(
    world: World, data: bytes, declared: dict[str, Any], pointer: str
) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file(**declared)])
    answer = await put(pia, release, data)
    assert answer.status_code == 422
    assert [(one["pointer"], one["code"]) for one in answer.json()["errors"]] == [(pointer, "MISMATCH")]
    assert files_of(world) == []
    shown = await pia.player.get(f"{RELEASES}/{release['releaseId']}")
    assert shown["artifacts"][0]["hosted"] is False


async def test_only_drafts_take_bytes(world: World) -> None:
    pia = await a_publisher(world)
    published = await hosted(pia)
    answer = await put(pia, published)
    assert (answer.status_code, answer.json()["meta"]) == (409, {"status": "published"})
    elsewhere = await pia.release("2.0.0")
    assert (await put(pia, elsewhere)).status_code == 409
    assert len(files_of(world)) == 1


async def test_what_is_not_there_takes_no_bytes(world: World) -> None:
    pia = await a_publisher(world)
    one, other = (
        await pia.release("1.0.0", artifacts=[a_file()]),
        await pia.release("2.0.0", artifacts=[a_file()]),
    )
    foreign = content_of({**one, "artifacts": other["artifacts"]})
    gone = content_of(one).replace(one["releaseId"], "0" * 24)
    for path in (foreign, gone, content_of(one).replace(one["releaseId"], "zz")):
        answer = await pia.player.ask("PUT", path, content=DATA, headers=OCTETS)
        assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")


async def test_who_may_put(world: World) -> None:
    pia, nobody = await a_publisher(world), world.nobody()
    release = await pia.release(artifacts=[a_file()])
    stranger = await world.player("Sam")
    for player, status in ((nobody, 401), (stranger, 403)):
        answer = await player.ask("PUT", content_of(release), content=DATA, headers=OCTETS)
        assert answer.status_code == status
    answer = await pia.player.ask("PUT", content_of(release), content=DATA)
    assert (answer.status_code, answer.json()["code"]) == (415, "UNSUPPORTED_MEDIA")


async def test_drafts_and_yanked_releases_are_not_downloaded(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file()])
    await put(pia, release)
    path = f"{DOWNLOAD}?artifactId={release['artifacts'][0]['artifactId']}"
    assert await world.nobody().refused("GET", path) == (404, "NOT_FOUND")
    await pia.activate(release)
    assert (await world.nobody().ask("GET", path)).status_code == 200
    await hosted(pia, "2.0.0")
    await pia.changed(release, status="yanked")
    assert await world.nobody().refused("GET", path) == (404, "NOT_FOUND")


@pytest.mark.one_node(because="each node takes one file at a time")
async def test_one_file_is_put_at_a_time(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file(), a_file(arch="arm64", fileName="arm.exe")])
    head = (
        f"PUT {content_of(release)} HTTP/1.1\r\nHost: t\r\nContent-Type: application/octet-stream\r\n"
        f"Authorization: Bearer {pia.player.token}\r\nContent-Length: {len(DATA)}\r\n\r\n"
    ).encode()

    async def begun() -> bool:
        return bool(files_of(world))

    async with raw(world.url) as slow:
        await slow.send(head + DATA[:-1])
        await wait_until(begun)
        answer = await put(pia, release, number=1)
        assert (answer.status_code, answer.json()["code"]) == (503, "OVERLOADED")
        await slow.send(DATA[-1:])
        assert (await slow.read_response())[0] == 200
    assert (await put(pia, release, number=1)).status_code == 200


@pytest.mark.both_edges
async def test_a_cut_upload_leaves_nothing(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file()])
    head = (
        f"PUT {content_of(release)} HTTP/1.1\r\nHost: t\r\nContent-Type: application/octet-stream\r\n"
        f"Authorization: Bearer {pia.player.token}\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode()

    async def begun() -> bool:
        return bool(files_of(world))

    async def ended() -> bool:
        return not files_of(world) and world.service.of(HOSTED_FILES).place.value == 1

    async with raw(world.url) as cut:
        await cut.send(head + b"%x\r\n%b\r\n" % (600_000, DATA[:600_000]))
        await wait_until(begun)
    await wait_until(ended)
    assert (await put(pia, release)).status_code == 200


async def test_files_over_the_bound_are_refused(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path, artifact_max_bytes=str(len(DATA) - 1)) as world:
        pia = await a_publisher(world)
        release = await pia.release(artifacts=[a_file()])
        answer = await put(pia, release)
        assert (answer.status_code, answer.json()["meta"]) == (413, {"maxBytes": len(DATA) - 1})
        assert files_of(world) == []


async def test_publishers_sign_where_their_keys_are_known(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path, release_keys=KEYS) as world:
        pia = await a_publisher(world)
        good = base64.b64encode(PRIVATE.sign(DATA)).decode()
        bad = base64.b64encode(PRIVATE.sign(DATA + b"x")).decode()
        for version, signed, flaw in (
            ("1.0.0", {}, ("/signature", "REQUIRED")),
            ("2.0.0", {"signature": bad, "keyId": "ours"}, ("/signature", "MISMATCH")),
            ("3.0.0", {"signature": good, "keyId": "theirs"}, ("/keyId", "UNKNOWN")),
        ):
            answer = await put(pia, await pia.release(version, artifacts=[a_file(**signed)]))
            assert answer.status_code == 422
            assert [(one["pointer"], one["code"]) for one in answer.json()["errors"]] == [flaw]
        assert files_of(world) == []
        signed = a_file(signature=good, keyId="ours")
        assert (await put(pia, await pia.release("4.0.0", artifacts=[signed]))).status_code == 200


async def test_a_hash_that_nobody_named_is_told(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file(sha256=None)])
    assert (await put(pia, release)).json()["sha256"] == hashlib.sha256(DATA).hexdigest()
    assert (await put(pia, release, DATA[:-1] + b"x")).status_code == 422


async def test_bytes_of_deleted_releases_are_swept(world: World) -> None:
    pia = await a_publisher(world)
    shared = [await pia.release(version, artifacts=[a_file()]) for version in ("1.0.0", "2.0.0")]
    own = await pia.release("3.0.0", artifacts=[a_file(b"own bytes")])
    for release in shared:
        await put(pia, release)
    await put(pia, own, b"own bytes")
    assert len(files_of(world)) == 2
    sweep = job_named(world, "files without a release").run
    for release in (shared[0], own):
        await pia.player.do("DELETE", f"{RELEASES}/{release['releaseId']}")
    await sweep()
    assert len(files_of(world)) == 2  # they are young
    world.advance(2 * 3600 * 1000)
    await sweep()
    (left,) = files_of(world)
    assert left.read_bytes() == DATA
    pia.player.headers["authorization"] = f"Bearer {world.token(pia.player.id, pia.player.name)}"
    await pia.player.do("DELETE", f"{RELEASES}/{shared[1]['releaseId']}")
    await sweep()
    assert files_of(world) == []


async def test_artifacts_that_are_replaced_lose_their_bytes(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file()])
    await put(pia, release)
    changed = await pia.changed(release, artifacts=[a_file()])
    assert changed["artifacts"][0]["hosted"] is False
    assert (await put(pia, release)).status_code == 404
    assert (await put(pia, changed)).status_code == 200


async def test_a_release_that_changes_while_its_bytes_come_does_not_get_them(world: World) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file()])
    head = (
        f"PUT {content_of(release)} HTTP/1.1\r\nHost: t\r\nContent-Type: application/octet-stream\r\n"
        f"Authorization: Bearer {pia.player.token}\r\nContent-Length: {len(DATA)}\r\n\r\n"
    ).encode()

    async def begun() -> bool:
        return bool(files_of(world))

    async with raw(world.url) as slow:
        await slow.send(head + DATA[:-1])
        await wait_until(begun)
        await pia.player.do("DELETE", f"{RELEASES}/{release['releaseId']}")
        await slow.send(DATA[-1:])
        assert (await slow.read_response())[0] == 404
    world.advance(2 * 3600 * 1000)
    await job_named(world, "files without a release").run()
    assert files_of(world) == []
