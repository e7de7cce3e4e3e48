"""Uploads: names, types, sizes, quota, and what is swept."""

import base64
import hashlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec.structs import replace

from actors.chat.attachments import (
    DAY_BYTES,
    QUOTA_BYTES,
    UploadDraft,
    attachment_row,
    check_upload,
    find,
    fits_type,
    keep,
    reserve,
    served_type,
)
from actors.chat.commands import DeleteMessage
from actors.chat.sweeping import RESERVED_MS, sweep, sweep_strays
from actors.errors import ConversationNotFound, Invalid, NotFound, Overloaded, QuotaExceeded, TooLarge
from actors.file_names import clean_name
from persistence.blobs import Blobs
from persistence.bridge.database import Database
from persistence.chat import attachments
from persistence.connection import Connection
from tests.chat.play import NOW_MS, mid, uid
from tests.chat.stage import Stage, open_stage

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"
DAY_MS = 24 * 3600 * 1000


def a_draft(data: bytes = PNG, **fields: str) -> UploadDraft:
    values = {
        "file_name": "cat.png",
        "content_type": "image/png",
        "data_base64": base64.b64encode(data).decode(),
    }
    return UploadDraft(**{**values, **fields})


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("cat.png", "cat.png"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\cat.png", "cat.png"),
        ("a\0b\r\nc.txt", "abc.txt"),
        ("\u202egnp.exe", "gnp.exe"),
        ("  spaced.txt  ", "spaced.txt"),
        ("..", ""),
        ("dir/", ""),
        ("\n", ""),
        ("trailing...", "trailing"),
        (".hidden", ".hidden"),
        ("e\u0301.txt", "é.txt"),
        ("ü" * 200 + ".png", "ü" * 125 + ".png"),
        ("x" * 300, "x" * 255),
    ],
)
def test_names_are_cleaned(name: str, clean: str):
    assert clean_name(name) == clean
    assert len(clean.encode()) <= 255


@pytest.mark.parametrize(
    ("content_type", "data", "fits"),
    [
        ("image/png", PNG, True),
        ("image/png", b"<html>", False),
        ("image/jpeg", b"\xff\xd8\xff\xe0", True),
        ("image/gif", b"GIF89a....", True),
        ("image/webp", b"RIFF....WEBP", True),
        ("image/webp", b"RIFF....WAVE", False),
        ("image/svg+xml", b"<svg/>", True),
        ("image/unheard-of", b"x", False),
        ("application/pdf", b"%PDF-1.7", True),
        ("application/pdf", PNG, False),
        ("application/zip", b"PK\x03\x04", True),
        ("video/mp4", b"....ftypisom", True),
        ("audio/ogg", b"OggS", True),
        ("audio/mpeg", b"ID3", True),
        ("video/webm", b"\x1aE\xdf\xa3", True),
        ("text/plain", "grüße".encode(), True),
        ("text/plain", b"\xff\xfe", False),
        ("text/plain", b"a\0b", False),
        ("application/json", b"{}", True),
        ("application/octet-stream", b"\0\1\2", True),
        ("application/x-own", b"\0\1\2", True),
    ],
)
def test_bytes_must_be_what_they_are_said_to_be(content_type: str, data: bytes, fits: bool):
    assert fits_type(content_type, data) is fits


@pytest.mark.parametrize(
    ("content_type", "served"),
    [
        ("image/png", "image/png"),
        ("text/plain", "text/plain"),
        ("text/html", "application/octet-stream"),
        ("image/svg+xml", "application/octet-stream"),
        ("application/xhtml+xml", "application/octet-stream"),
        ("text/javascript", "application/octet-stream"),
    ],
)
def test_what_could_run_is_served_as_plain_bytes(content_type: str, served: str):
    assert served_type(content_type) == served


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        (a_draft(file_name="../"), [("/fileName", "REQUIRED")]),
        (a_draft(content_type="png"), [("/contentType", "MALFORMED")]),
        (a_draft(content_type="image/png\r\nx: y"), [("/contentType", "MALFORMED")]),
        (a_draft(content_type="image/jpeg"), [("/contentType", "MISMATCH")]),
        (a_draft(data_base64="????"), [("/dataBase64", "MALFORMED")]),
        (a_draft(data_base64="QUJ"), [("/dataBase64", "MALFORMED")]),
        (a_draft(data_base64="ü==="), [("/dataBase64", "MALFORMED")]),
        (a_draft(data_base64="QUJD\n"), [("/dataBase64", "MALFORMED")]),
        (a_draft(b""), [("/dataBase64", "REQUIRED")]),
    ],
)
def test_broken_uploads_are_refused(draft: UploadDraft, expected: list[tuple[str, str]]):
    with pytest.raises(Invalid) as caught:
        check_upload(draft)
    assert [(error.pointer, error.code) for error in caught.value.errors] == expected


def test_the_limit_is_of_decoded_bytes():
    assert len(check_upload(a_draft(PNG.ljust(20)), 20).data) == 20
    for size in (21, 23, 10_000):
        with pytest.raises(TooLarge):
            check_upload(a_draft(PNG.ljust(size)), 20)


def test_parameters_of_a_type_are_dropped():
    upload = check_upload(a_draft(b"hi", content_type="Text/Plain; charset=utf-8"))
    assert upload.content_type == "text/plain"


@pytest.fixture
async def stage(database: Database) -> Stage:
    return await open_stage(database, "ann", "bob")


async def upload(stage: Stage, number: int, *, blobs: Blobs | None = None, **fields: Any) -> None:
    """An upload of ann's."""
    checked = check_upload(a_draft(PNG + bytes([number])))
    values: dict[str, Any] = {
        "id": mid(number),
        "conversation_id": stage.id,
        "uploader_id": uid("ann"),
        "now_ms": stage.now_ms,
    }
    row = attachment_row(checked, **{**values, **fields})
    await stage.database.transact(reserve, row)
    if blobs is not None:
        assert blobs.store(checked.data) == row.sha256
    await stage.database.transact(keep, row)


async def finds(stage: Stage, name: str, number: int) -> str:
    row = await stage.database.read(find, stage.id, uid(name), mid(number))
    return row.file_name


async def test_an_upload_is_the_uploader_s_until_it_is_sent(stage: Stage):
    await upload(stage, 70)
    assert await finds(stage, "ann", 70) == "cat.png"
    with pytest.raises(NotFound):
        await finds(stage, "bob", 70)
    with pytest.raises(ConversationNotFound):
        await finds(stage, "eve", 70)
    message = await stage.post("ann", None, attachment_ids=(mid(70),))
    assert message.attachments[0].id == mid(70)
    assert await finds(stage, "bob", 70) == "cat.png"
    with pytest.raises(Invalid):
        await stage.post("ann", None, attachment_ids=(mid(70),))
    await stage.do(DeleteMessage(uid("ann"), message.id))
    with pytest.raises(NotFound):
        await finds(stage, "ann", 70)


async def test_an_attachment_goes_into_one_message_of_a_turn(stage: Stage):
    await upload(stage, 70)
    first, second = (stage.posting("ann", None, attachment_ids=(mid(70),)) for _ in range(2))
    replies = await stage.act(first, second)
    assert isinstance(replies[1], Invalid)
    assert await stage.loaded(stage.id) == stage.state


async def test_of_another_conversation_or_user_is_refused(stage: Stage):
    await upload(stage, 70)
    with pytest.raises(Invalid):
        await stage.post("bob", None, attachment_ids=(mid(70),))
    await stage.create("ann", "bob", "cid")
    with pytest.raises(Invalid):
        await stage.post("ann", None, attachment_ids=(mid(70),))
    with pytest.raises(NotFound):
        await finds(stage, "ann", 70)


async def test_a_stranger_uploads_nothing(stage: Stage):
    with pytest.raises(ConversationNotFound):
        await upload(stage, 70, uploader_id=uid("eve"))


async def race(stage: Stage, number: int, size_bytes: int) -> list[str]:
    """What comes of so many reservations at once, each of that size."""
    checked = check_upload(a_draft())
    outcomes: list[str] = []

    async def one(number: int) -> None:
        row = attachment_row(
            checked,
            id=mid(1_000 + number),
            conversation_id=stage.id,
            uploader_id=uid("ann"),
            now_ms=stage.now_ms,
        )
        try:
            await stage.database.transact(reserve, replace(row, size_bytes=size_bytes))
            outcomes.append("stored")
        except QuotaExceeded as refused:
            assert refused.meta == {"max": QUOTA_BYTES}
            outcomes.append("refused")

    async with trio.open_nursery() as nursery:
        for place in range(number):
            nursery.start_soon(one, place)
    return sorted(outcomes)


async def test_the_quota_holds_when_uploads_race(stage: Stage):
    assert await race(stage, 100, QUOTA_BYTES // 4) == ["refused"] * 96 + ["stored"] * 4


async def at_once(blocking: Callable[[], set[bytes]]) -> set[bytes]:
    return blocking()


def digest_of(number: int) -> bytes:
    return hashlib.sha256(PNG + bytes([number])).digest()


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def age(blobs: Blobs, *numbers: int, at_ms: int = NOW_MS) -> None:
    """Let the files of these uploads be from then."""
    for number in numbers:
        os.utime(blobs.path(digest_of(number)), (at_ms / 1000, at_ms / 1000))


async def used_bytes(stage: Stage) -> int:
    """What counts against ann's quota."""

    async def count(conn: Connection) -> int:
        sql = "SELECT coalesce(sum(size_bytes), 0)::bigint FROM attachments WHERE uploader_id = $1 AND state <> 'gone'"
        return int(await conn.fetchval(sql, uid("ann")))

    return await stage.database.read(count)


async def test_what_nobody_uses_is_swept(stage: Stage, blobs: Blobs):
    await upload(stage, 70, blobs=blobs)
    await upload(stage, 71, blobs=blobs)
    await stage.post("ann", None, attachment_ids=(mid(70),))
    age(blobs, 70, 71)
    assert await sweep(stage.database, blobs, at_once, now_ms=NOW_MS + DAY_MS // 2) == 0
    assert await finds(stage, "ann", 71) == "cat.png"
    stage.now_ms = NOW_MS + 2 * DAY_MS
    with pytest.raises(Invalid):
        await stage.post("ann", None, attachment_ids=(mid(71),))
    assert await sweep(stage.database, blobs, at_once, now_ms=stage.now_ms) == 1
    with pytest.raises(NotFound):
        await finds(stage, "ann", 71)
    assert blobs.read(digest_of(71)) is None
    assert blobs.size(digest_of(70)) == len(PNG) + 1


async def test_deleting_does_not_free_the_quota_before_the_bytes_are_gone(stage: Stage, blobs: Blobs):
    await upload(stage, 70, blobs=blobs)
    age(blobs, 70)
    message = await stage.post("ann", None, attachment_ids=(mid(70),))
    await stage.do(DeleteMessage(uid("ann"), message.id))
    assert await used_bytes(stage) == len(PNG) + 1
    # Somebody stored the same bytes a moment ago: theirs may be on the way.
    assert await sweep(stage.database, blobs, at_once, now_ms=NOW_MS + 1_000) == 0
    assert await used_bytes(stage) == len(PNG) + 1
    assert await sweep(stage.database, blobs, at_once, now_ms=NOW_MS + 61_000) == 1
    assert blobs.read(digest_of(70)) is None
    assert await used_bytes(stage) == 0


async def test_bytes_that_somebody_else_shows_stay(stage: Stage, blobs: Blobs):
    await upload(stage, 70, blobs=blobs)
    await upload(stage, 70, blobs=blobs, id=mid(700), uploader_id=uid("bob"))
    age(blobs, 70)
    message = await stage.post("ann", None, attachment_ids=(mid(70),))
    await stage.do(DeleteMessage(uid("ann"), message.id))
    assert await sweep(stage.database, blobs, at_once, now_ms=NOW_MS + 61_000) == 1
    assert await used_bytes(stage) == 0
    assert await finds(stage, "bob", 700) == "cat.png"
    assert blobs.read(digest_of(70)) == PNG + bytes([70])


async def test_a_crash_between_reservation_and_file_costs_no_quota_for_long(stage: Stage, blobs: Blobs):
    checked = check_upload(a_draft(PNG + bytes([70])))
    row = attachment_row(checked, id=mid(70), conversation_id=stage.id, uploader_id=uid("ann"), now_ms=NOW_MS)
    await stage.database.transact(reserve, row)
    with pytest.raises(NotFound):
        await finds(stage, "ann", 70)
    # Its bytes may just be written.
    blobs.store(checked.data)
    age(blobs, 70)
    assert await sweep(stage.database, blobs, at_once, now_ms=NOW_MS + RESERVED_MS) == 0
    assert blobs.read(digest_of(70)) is not None
    assert await sweep(stage.database, blobs, at_once, now_ms=NOW_MS + RESERVED_MS + 1) == 1
    assert blobs.read(digest_of(70)) is None
    assert await used_bytes(stage) == 0
    with pytest.raises(Overloaded):
        await stage.database.transact(keep, row)


async def test_what_was_deleted_counts_for_the_bytes_of_its_day(stage: Stage, blobs: Blobs):
    rounds = DAY_BYTES // QUOTA_BYTES
    for number in range(rounds):
        assert await race(stage, 1, QUOTA_BYTES) == ["stored"]
        await stage.database.transact(partial(attachments.release, id=mid(1_000)))
        assert await sweep(stage.database, blobs, at_once, now_ms=NOW_MS) == 1
        await stage.database.transact(rename, mid(1_000), mid(2_000 + number))
    row = attachment_row(
        check_upload(a_draft()), id=mid(70), conversation_id=stage.id, uploader_id=uid("ann"), now_ms=NOW_MS
    )
    with pytest.raises(QuotaExceeded) as caught:
        await stage.database.transact(reserve, row)
    assert caught.value.meta == {"max": DAY_BYTES}
    later = NOW_MS + DAY_MS + 1
    await stage.database.transact(reserve, replace(row, created_at_ms=later))
    await sweep(stage.database, blobs, at_once, now_ms=later)
    assert await stage.database.read(count_rows) == 1


async def rename(conn: Connection, id: str, other: str) -> None:
    await conn.execute("UPDATE attachments SET id = $2 WHERE id = $1", id, other)


async def count_rows(conn: Connection) -> int:
    return int(await conn.fetchval("SELECT count(*) FROM attachments"))


async def test_files_that_no_row_speaks_of_go_after_a_day(stage: Stage, blobs: Blobs):
    await upload(stage, 70, blobs=blobs)
    blobs.store(PNG + bytes([71]))
    age(blobs, 70, 71)
    assert await sweep_strays(stage.database, blobs, at_once, now_ms=NOW_MS + DAY_MS // 2) == 0
    assert await sweep_strays(stage.database, blobs, at_once, now_ms=NOW_MS + DAY_MS + 1) == 1
    assert blobs.read(digest_of(70)) is not None
    assert blobs.read(digest_of(71)) is None


def test_padding_stands_at_the_end_alone():
    """Large files are decoded in slices."""
    data = bytes(range(256)) * 6_000
    assert check_upload(a_draft(data, content_type="application/x-own")).data == data
    text = base64.b64encode(data).decode()
    for broken in (
        text[: 1024 * 1024 - 4] + "QUI=" + text[1024 * 1024 :],
        text + "=",
        text + "A",
        text[:-1] + "\n",
    ):
        with pytest.raises(Invalid):
            check_upload(a_draft(content_type="application/x-own", data_base64=broken))
