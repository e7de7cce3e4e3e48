"""Wire: uploads and downloads."""

import hashlib
from functools import partial
from pathlib import Path

import pytest
import trio

from actors.chat.attachments import MAX_BYTES, QUOTA_BYTES
from persistence.chat.attachments import reserve
from persistence.chat.rows import AttachmentRow
from persistence.connection import Connection
from tests.chat.play import PNG, a_file
from tests.support.one_world import in_one_world
from tests.support.world import Player, Room, World, open_world

pytestmark = pytest.mark.both_edges


async def pair(world: World) -> tuple[Player, Player, Room]:
    ann, ben = await world.players("Ann", "Ben")
    return ann, ben, await ann.talk_to(ben)


async def test_a_file_goes_up_into_a_message_and_down_again(world: World) -> None:
    ann, ben, room = await pair(world)
    kept = await ann.do("POST", f"{room.path}/attachments", a_file(), status=201)
    assert (kept["fileName"], kept["contentType"], kept["sizeBytes"]) == ("map.png", "image/png", len(PNG))
    assert kept["url"] == f"{room.path}/attachments/{kept['id']}"
    # Until a message shows it, it is its uploader's alone.
    assert await ben.refused("GET", kept["url"]) == (404, "NOT_FOUND")
    sent = await ann.do("POST", room.messages, {"attachmentIds": [kept["id"]]}, status=201)
    assert sent["attachments"] == [kept]
    assert (await ben.get(room.path))["lastMessagePreview"] == "[attachment] map.png"
    got = await ben.ask("GET", kept["url"])
    assert (got.status_code, got.content) == (200, PNG)
    assert got.headers["content-type"] == "image/png"
    assert got.headers["etag"] == f'"{hashlib.sha256(PNG).hexdigest()}"'
    assert got.headers["content-disposition"].startswith('attachment; filename="map.png"')
    assert got.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in got.headers["content-security-policy"]
    await ann.do("DELETE", room.message(sent["id"]))
    assert await ben.refused("GET", kept["url"]) == (404, "NOT_FOUND")


async def test_ranges_and_conditions(world: World) -> None:
    ann, _, room = await pair(world)
    url = (await ann.do("POST", f"{room.path}/attachments", a_file()))["url"]
    tag = (await ann.ask("GET", url)).headers["etag"]
    part = await ann.ask("GET", url, headers={"range": "bytes=2-5"})
    assert (part.status_code, part.content) == (206, PNG[2:6])
    assert part.headers["content-range"] == f"bytes 2-5/{len(PNG)}"
    tail = await ann.ask("GET", url, headers={"range": "bytes=-4"})
    assert (tail.status_code, tail.content) == (206, PNG[-4:])
    beyond = await ann.ask("GET", url, headers={"range": f"bytes={len(PNG)}-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{len(PNG)}")
    same = await ann.ask("GET", url, headers={"if-none-match": tag})
    assert (same.status_code, same.content) == (304, b"")
    stale = await ann.ask("GET", url, headers={"range": "bytes=0-1", "if-range": '"other"'})
    assert (stale.status_code, stale.content) == (200, PNG)


@in_one_world(
    ("body", "pointer"),
    [
        (a_file(b"GIF89a....") | {}, "/contentType"),
        (a_file(b""), "/dataBase64"),
        (a_file() | {"dataBase64": "%%%"}, "/dataBase64"),
        (a_file() | {"dataBase64": "abc"}, "/dataBase64"),
        (a_file() | {"dataBase64": "ü"}, "/dataBase64"),
        (a_file() | {"fileName": " /.."}, "/fileName"),
        (a_file() | {"fileName": "a\0b"}, "/fileName"),
        (a_file() | {"contentType": "png"}, "/contentType"),
        (a_file() | {"contentType": "image/png\r\nx: y"}, "/contentType"),
        ({"fileName": "a", "contentType": "image/png"}, "/dataBase64"),
    ],
    ids=lambda value: str(value)[:50],
)
async def test_files_that_cannot_be(world: World, body: dict[str, str], pointer: str) -> None:
    ann, _, room = await pair(world)
    response = await ann.ask("POST", f"{room.path}/attachments", body)
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


@in_one_world(
    ("name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\evil\\run.exe", "run.exe"),
        ("größe.txt", "größe.txt"),
        ('a"b\r\nX: y.txt', 'a"bX: y.txt'),
        ("\u202egnp.exe", "gnp.exe"),
        ("x" * 400 + ".txt", "x" * 251 + ".txt"),
    ],
)
async def test_names_are_cleaned(world: World, name: str, kept: str) -> None:
    ann, _, room = await pair(world)
    made = await ann.do("POST", f"{room.path}/attachments", a_file(b"hello", name, "text/plain"))
    assert made["fileName"] == kept
    disposition = (await ann.ask("GET", made["url"])).headers["content-disposition"]
    assert "\r" not in disposition
    assert "\n" not in disposition


async def test_what_a_browser_would_run_is_served_as_bytes(world: World) -> None:
    ann, _, room = await pair(world)
    page = a_file(b"<script>alert(1)</script>", "x.html", "text/html")
    made = await ann.do("POST", f"{room.path}/attachments", page)
    assert (await ann.ask("GET", made["url"])).headers["content-type"] == "application/octet-stream"


async def test_the_cap_is_exact(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path, attachment_max_bytes="1000") as world:
        ann, _, room = await pair(world)
        path = f"{room.path}/attachments"
        await ann.do("POST", path, a_file(b"x" * 1000, "a.txt", "text/plain"), status=201)
        one_more = a_file(b"x" * 1001, "a.txt", "text/plain")
        assert await ann.refused("POST", path, one_more) == (413, "PAYLOAD_TOO_LARGE")
        # What is declared too large is refused before it is sent.
        huge = a_file(b"x" * 100_000, "a.txt", "text/plain")
        assert await ann.refused("POST", path, huge) == (413, "PAYLOAD_TOO_LARGE")


async def test_a_large_file_passes(world: World) -> None:
    ann, _, room = await pair(world)
    big = b"x" * MAX_BYTES
    made = await ann.do("POST", f"{room.path}/attachments", a_file(big, "big.txt", "text/plain"), status=201)
    assert (await ann.ask("GET", made["url"])).content == big


async def test_a_user_has_so_much_room(world: World) -> None:
    ann, ben, room = await pair(world)
    await fill(world, ann, room, QUOTA_BYTES - 10)
    path = f"{room.path}/attachments"
    await ann.do("POST", path, a_file(b"x" * 10, "a.txt", "text/plain"), status=201)
    assert await ann.refused("POST", path, a_file(b"x", "a.txt", "text/plain")) == (422, "QUOTA_EXCEEDED")
    await ben.do("POST", path, a_file(b"x", "a.txt", "text/plain"), status=201)


async def test_deleting_a_message_makes_no_room_before_its_bytes_are_gone(world: World) -> None:
    ann, _, room = await pair(world)
    path = f"{room.path}/attachments"
    kept = await ann.do("POST", path, a_file(), status=201)
    sent = await ann.do("POST", room.messages, {"attachmentIds": [kept["id"]]}, status=201)
    await fill(world, ann, room, QUOTA_BYTES - len(PNG))
    await ann.do("DELETE", f"{room.messages}/{sent['id']}")
    assert sorted(await world.service.database.read(states)) == ["freed", "reserved"]
    assert await ann.refused("POST", path, a_file(b"x", "a.txt", "text/plain")) == (422, "QUOTA_EXCEEDED")


async def fill(world: World, player: Player, room: Room, size_bytes: int) -> None:
    """Give a user as much as that, without its bytes."""
    row = AttachmentRow(
        id="a" * 24,
        conversation_id=room.id,
        uploader_id=player.id,
        file_name="big",
        content_type="text/plain",
        size_bytes=size_bytes,
        sha256=bytes(32),
        created_at_ms=world.clock.now_ms(),
    )
    bounds = partial(reserve, quota_bytes=QUOTA_BYTES, most_files=100, day_bytes=QUOTA_BYTES, day_began_ms=0)
    await world.service.database.transact(bounds, row)


def files_of(world: World) -> list[Path]:
    """Everything in the blob store."""
    return [path for path in (world.service.config.data_dir / "blobs").rglob("*") if path.is_file()]


async def test_uploads_that_are_refused_leave_no_files(world: World) -> None:
    """They race: what was written before it was refused stayed on the disk for a day."""
    ann, _, room = await pair(world)
    await fill(world, ann, room, QUOTA_BYTES - 3 * 10)
    outcomes: list[int] = []

    async def send(number: int) -> None:
        file = a_file(b"%010d" % number, "a.txt", "text/plain")
        outcomes.append((await ann.ask("POST", f"{room.path}/attachments", file)).status_code)

    async with trio.open_nursery() as nursery:
        for number in range(12):
            nursery.start_soon(send, number)
    assert sorted(outcomes) == [201] * 3 + [422] * 9
    assert len(files_of(world)) == 3


async def test_a_disk_that_is_nearly_full_takes_no_uploads(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path, disk_free_min_bytes=str(2**50)) as world:
        ann, _, room = await pair(world)
        refused = await ann.ask("POST", f"{room.path}/attachments", a_file())
        assert (refused.status_code, refused.json()["code"]) == (503, "OVERLOADED")
        assert "retry-after" in refused.headers
        assert files_of(world) == []
        rows = await world.service.database.read(states)
        assert rows == ["freed"]


async def states(conn: Connection) -> list[str]:
    return [row["state"] for row in await conn.fetch("SELECT state FROM attachments")]


async def test_a_file_that_has_just_been_removed_is_not_found(world: World) -> None:
    ann, _, room = await pair(world)
    made = await ann.do("POST", f"{room.path}/attachments", a_file())
    for path in files_of(world):
        path.unlink()
    assert await ann.refused("GET", made["url"]) == (404, "NOT_FOUND")


async def test_foreign_files_cannot_be_used(world: World) -> None:
    ann, ben, room = await pair(world)
    cid = await world.player("Cid")
    elsewhere = await ann.talk_to(cid)
    mine = (await ann.do("POST", f"{room.path}/attachments", a_file()))["id"]
    other_room = (await ann.do("POST", f"{elsewhere.path}/attachments", a_file()))["id"]
    for sender, id in ((ben, mine), (ann, other_room), (ann, "0" * 24)):
        response = await sender.ask("POST", room.messages, {"attachmentIds": [id]})
        assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "/attachmentIds/0")
    twice = {"attachmentIds": [mine, mine.upper()]}
    assert await ann.refused("POST", room.messages, twice) == (422, "VALIDATION_FAILED")
    sent = await ann.do("POST", room.messages, {"attachmentIds": [mine.upper()]}, status=201)
    assert [attachment["id"] for attachment in sent["attachments"]] == [mine]
    # A file belongs to one message.
    assert await ann.refused("POST", room.messages, {"attachmentIds": [mine]}) == (422, "VALIDATION_FAILED")
    # An id of another conversation is none of this one.
    assert await ann.refused("GET", f"{room.path}/attachments/{other_room}") == (404, "NOT_FOUND")
    assert await cid.refused("GET", f"{room.path}/attachments/{mine}") == (404, "CONVERSATION_NOT_FOUND")
    assert await ann.refused("GET", f"{room.path}/attachments/zz") == (404, "NOT_FOUND")


@pytest.mark.one_node(because="it counts to the last token")
async def test_uploads_are_limited(world: World) -> None:
    ann, _, room = await pair(world)
    world.clock.stop()
    path = f"{room.path}/attachments"
    for _ in range(20):
        await ann.do("POST", path, a_file(), status=201)
    assert await ann.refused("POST", path, a_file()) == (429, "RATE_LIMITED")


@in_one_world("name", ["token", "access_token", "bearer", "authorization"])
async def test_a_token_in_the_address_is_refused(world: World, name: str) -> None:
    ann, _, room = await pair(world)
    url = (await ann.do("POST", f"{room.path}/attachments", a_file()))["url"]
    assert await ann.refused("GET", f"{url}?{name}={ann.token}") == (400, "TOKEN_IN_QUERY")
    assert await world.nobody().refused("GET", f"{url}?{name}={ann.token}") == (400, "TOKEN_IN_QUERY")
