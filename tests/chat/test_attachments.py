"""Uploads: names, types, sizes, quota, and who sees them."""

import base64

import pytest

from actors.chat import attachments
from actors.chat.attachments import QUOTA_BYTES, UploadDraft, check_upload, fits_type, served_type
from actors.chat.commands import DeleteMessage
from actors.errors import ConversationNotFound, Invalid, NotFound, TooLarge
from actors.file_names import clean_name
from persistence.bridge.database import Database
from tests.chat.play import mid, uid
from tests.chat.stage import Stage, open_stage
from tests.chat.uploads import PNG, a_draft, finds, race, upload


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


async def test_the_quota_holds_when_uploads_race(stage: Stage):
    assert await race(stage, 100, QUOTA_BYTES // 4) == ["refused"] * 96 + ["stored"] * 4


async def test_tiny_files_are_bounded_by_their_number(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    """Each takes a block of the disk, whatever its length: 28,000 a day of a byte each, for ever."""
    monkeypatch.setattr(attachments, "FILES_MAX", 3)
    assert await race(stage, 10, 1, most=3) == ["refused"] * 7 + ["stored"] * 3


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
