"""Live: what nobody uses is swept, file and row, and what counts against a quota meanwhile."""

import hashlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from actors.chat.attachments import DAY_BYTES, QUOTA_BYTES, attachment_row, check_upload, keep, reserve
from actors.chat.commands import DeleteMessage
from actors.chat.sweeping import RESERVED_MS, sweep, sweep_strays
from actors.errors import Invalid, NotFound, Overloaded, QuotaExceeded
from persistence.blobs import Blobs
from persistence.bridge.database import Database
from persistence.chat import attachments
from persistence.connection import Connection
from tests.chat.play import NOW_MS, mid, uid
from tests.chat.stage import Stage, open_stage
from tests.chat.uploads import PNG, a_draft, finds, race, upload

DAY_MS = 24 * 3600 * 1000


@pytest.fixture
async def stage(database: Database) -> Stage:
    return await open_stage(database, "ann", "bob")


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
