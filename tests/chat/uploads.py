"""Uploads of ann's, for tests of attachments."""

import base64
from typing import Any

import trio
from msgspec.structs import replace

from actors.chat.attachments import (
    QUOTA_BYTES,
    UploadDraft,
    attachment_row,
    check_upload,
    find,
    keep,
    reserve,
)
from actors.errors import QuotaExceeded
from persistence.blobs import Blobs
from tests.chat.play import mid, uid
from tests.chat.stage import Stage

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


def a_draft(data: bytes = PNG, **fields: str) -> UploadDraft:
    values = {
        "file_name": "cat.png",
        "content_type": "image/png",
        "data_base64": base64.b64encode(data).decode(),
    }
    return UploadDraft(**{**values, **fields})


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


async def race(stage: Stage, number: int, size_bytes: int, *, most: int = QUOTA_BYTES) -> list[str]:
    """What comes of so many reservations at once, each of that size; who is refused is told of this bound."""
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
            assert refused.meta == {"max": most}
            outcomes.append("refused")

    async with trio.open_nursery() as nursery:
        for place in range(number):
            nursery.start_soon(one, place)
    return sorted(outcomes)
