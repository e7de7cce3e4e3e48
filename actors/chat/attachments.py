"""Uploads: what may be stored, under which name and type, and how much of it (contract §4).

Bytes are looked at, since a declared type is only a claim; names are cleaned, since they end up in headers
and on disks of others. What a browser might run is handed out as plain bytes, whatever it is called.
"""

import codecs
import hashlib
import re
from typing import Annotated

import msgspec

from actors.base64_files import decoded
from actors.bounds import ShortText
from actors.chat.public import Attachment, Public
from actors.chat.records import public_attachment
from actors.errors import (
    Blocked,
    ConversationNotFound,
    Invalid,
    NotFound,
    Overloaded,
    QuotaExceeded,
    TooLarge,
)
from actors.field_errors import FieldError
from actors.file_names import MAX_NAME_CHARACTERS, clean_name
from actors.time import DAY_MS
from persistence.chat import attachments, members
from persistence.chat.rows import AttachmentRow
from persistence.connection import Connection

MAX_BYTES = 8 * 1024 * 1024
"""Most bytes of one attachment, decoded, unless configured otherwise (contract §4)."""

QUOTA_BYTES = 256 * 1024 * 1024
"""Most bytes of all attachments of one user (contract §4), deleted ones that are still on the disk included."""

FILES_MAX = QUOTA_BYTES // 4_096
"""Most attachments of one user, counted likewise: the smallest takes a block of the disk, and a row."""

DAY_BYTES = 4 * QUOTA_BYTES
"""Most bytes that one user uploads within 24 hours, whether kept or not: writing wears the database's disk."""


_TYPE_FORM = re.compile(r"[a-z0-9!#$&^_.+-]{1,63}/[a-z0-9!#$&^_.+-]{1,63}", re.ASCII)

# {declared type: (offset, bytes) of which one must be there}
_MAGIC: dict[str, tuple[tuple[int, bytes], ...]] = {
    "image/png": ((0, b"\x89PNG\r\n\x1a\n"),),
    "image/jpeg": ((0, b"\xff\xd8\xff"),),
    "image/gif": ((0, b"GIF87a"), (0, b"GIF89a")),
    "image/webp": ((8, b"WEBP"),),
    "image/bmp": ((0, b"BM"),),
    "image/tiff": ((0, b"II*\0"), (0, b"MM\0*")),
    "image/avif": ((4, b"ftypavif"), (4, b"ftypavis")),
    "image/heic": ((4, b"ftypheic"), (4, b"ftypheix"), (4, b"ftypmif1")),
    "image/x-icon": ((0, b"\0\0\1\0"),),
    "image/vnd.microsoft.icon": ((0, b"\0\0\1\0"),),
    "application/pdf": ((0, b"%PDF-"),),
    "application/zip": ((0, b"PK\x03\x04"), (0, b"PK\x05\x06")),
    "application/x-zip-compressed": ((0, b"PK\x03\x04"), (0, b"PK\x05\x06")),
    "application/java-archive": ((0, b"PK\x03\x04"),),
    "application/gzip": ((0, b"\x1f\x8b"),),
    "video/mp4": ((4, b"ftyp"),),
    "audio/mp4": ((4, b"ftyp"),),
    "video/quicktime": ((4, b"ftyp"), (4, b"moov")),
    "video/webm": ((0, b"\x1aE\xdf\xa3"),),
    "audio/webm": ((0, b"\x1aE\xdf\xa3"),),
    "video/ogg": ((0, b"OggS"),),
    "audio/ogg": ((0, b"OggS"),),
    "audio/mpeg": ((0, b"ID3"), (0, b"\xff\xfb"), (0, b"\xff\xf3"), (0, b"\xff\xf2")),
    "audio/wav": ((8, b"WAVE"),),
    "audio/flac": ((0, b"fLaC"),),
}
_TEXT_TYPES = frozenset({"application/json", "application/xml", "application/javascript", "image/svg+xml"})
# A browser that was made to show one of these would run what is in it.
_ACTIVE_TYPES = frozenset(
    {
        "text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml",
        "text/javascript", "application/javascript", "application/ecmascript", "text/css",
    }
)  # fmt: skip
_TEXT_PIECE_BYTES = 256 * 1024  # decoded at once: between two pieces, other threads have their turn
_PLAIN_BYTES = "application/octet-stream"


class UploadDraft(Public, frozen=True):
    """An upload as a client sends it: the file in base64, with its name and type.

    Args:
        data_base64: the file, as base64.
    """

    file_name: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARACTERS)]
    content_type: ShortText
    data_base64: str


class Upload(msgspec.Struct, frozen=True):
    """A checked upload.

    Args:
        sha256: the SHA-256 digest of the data, 32 bytes.
    """

    file_name: str
    content_type: str
    data: bytes
    sha256: bytes


def check_upload(draft: UploadDraft, max_bytes: int = MAX_BYTES) -> Upload:
    """The upload with a clean name and verified type.

    Raises:
        TooLarge: more than `max_bytes`, decoded.
        Invalid: the file has no name, is not base64, is empty, or is not of the declared type.
    """
    # Before it is decoded: what is too large shall not cost three quarters of its size once more.
    if len(draft.data_base64) // 4 * 3 - 2 > max_bytes:
        raise TooLarge(f"an attachment has at most {max_bytes} bytes", maxBytes=max_bytes)
    errors = []
    file_name = clean_name(draft.file_name)
    if not file_name:
        errors.append(
            FieldError("/fileName", "REQUIRED", "a file name with at least one printable character")
        )
    content_type = draft.content_type.partition(";")[0].strip().lower()
    if not _TYPE_FORM.fullmatch(content_type):
        errors.append(FieldError("/contentType", "MALFORMED", "a media type such as image/png"))
    try:
        data = decoded(draft.data_base64)
    except ValueError:
        data = b""
        errors.append(FieldError("/dataBase64", "MALFORMED", "not base64 (RFC 4648 §4, with padding)"))
    else:
        if not data:
            errors.append(FieldError("/dataBase64", "REQUIRED", "the file is empty"))
        elif not errors and not fits_type(content_type, data):
            errors.append(FieldError("/contentType", "MISMATCH", f"the file is not {content_type}"))
    if errors:
        raise Invalid(*errors)
    if len(data) > max_bytes:
        raise TooLarge(f"an attachment has at most {max_bytes} bytes", maxBytes=max_bytes)
    return Upload(file_name, content_type, data, hashlib.sha256(data).digest())


def fits_type(content_type: str, data: bytes) -> bool:
    """Whether the bytes may be of the declared type: text has to be text, an image has to have a known signature, and
    any other type without a known signature fits.

    Args:
        content_type: the declared media type in lower case.
        data: the first bytes of the file, or the whole of it.
    """
    magic = _MAGIC.get(content_type)
    if magic is not None:
        return any(data.startswith(start, offset) for offset, start in magic)
    if content_type.startswith("text/") or content_type in _TEXT_TYPES:
        return _is_text(data)
    # An image that we cannot verify is one that we do not take.
    return not content_type.startswith("image/")


def _is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _TEXT_PIECE_BYTES):
            decoder.decode(data[start : start + _TEXT_PIECE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def served_type(content_type: str) -> str:
    """The media type under which an attachment is served."""
    return _PLAIN_BYTES if content_type in _ACTIVE_TYPES else content_type


def attachment_row(
    upload: Upload, *, id: str, conversation_id: str, uploader_id: str, now_ms: int
) -> AttachmentRow:
    """Make the row of a checked upload."""
    return AttachmentRow(
        id=id,
        conversation_id=conversation_id,
        uploader_id=uploader_id,
        file_name=upload.file_name,
        content_type=upload.content_type,
        size_bytes=len(upload.data),
        sha256=upload.sha256,
        created_at_ms=now_ms,
    )


async def check_may_upload(conn: Connection, conversation_id: str) -> None:
    """Refuse uploads to a direct conversation while one of the two blocks the other.

    Raises:
        Blocked: one of the two blocks the other.
    """
    if await members.parted(conn, conversation_id):
        raise Blocked


async def reserve(conn: Connection, row: AttachmentRow) -> None:
    """Take room for an upload before its bytes are written, inside a transaction.

    Raises:
        ConversationNotFound: the uploader is not in the conversation.
        Blocked: it is a direct conversation, and one of the two blocks the other.
        QuotaExceeded: all uploads of this user would exceed 256 MiB or 65,536 files on the disk, or 1 GiB within a day.
    """
    if not await members.is_member(conn, row.conversation_id, row.uploader_id):
        raise ConversationNotFound
    await check_may_upload(conn, row.conversation_id)
    exceeded = await attachments.reserve(
        conn,
        row,
        quota_bytes=QUOTA_BYTES,
        most_files=FILES_MAX,
        day_bytes=DAY_BYTES,
        day_began_ms=row.created_at_ms - DAY_MS,
    )
    if exceeded == "quota":
        sentence = (
            f"all your attachments may have {QUOTA_BYTES} bytes; what you delete counts for a few minutes"
        )
        raise QuotaExceeded(FieldError("/dataBase64", "QUOTA", sentence), max=QUOTA_BYTES)
    if exceeded == "files":
        sentence = f"you may have {FILES_MAX} attachments; what you delete counts for a few minutes"
        raise QuotaExceeded(FieldError("/dataBase64", "QUOTA", sentence), max=FILES_MAX)
    if exceeded == "day":
        sentence = f"what you upload within 24 hours may have {DAY_BYTES} bytes"
        raise QuotaExceeded(FieldError("/dataBase64", "QUOTA", sentence), max=DAY_BYTES)


async def keep(conn: Connection, row: AttachmentRow) -> Attachment:
    """Turn a reserved upload, whose bytes are on the disk, into an attachment, inside a transaction.

    Raises:
        ConversationNotFound: the uploader is no longer in the conversation.
        Blocked: it is a direct conversation, and one of the two blocks the other.
        Overloaded: the reservation has run out.
    """
    if not await members.is_member(conn, row.conversation_id, row.uploader_id):
        raise ConversationNotFound
    await check_may_upload(conn, row.conversation_id)
    if not await attachments.keep(conn, row.id):
        raise Overloaded("the upload took too long; nothing has changed")
    return public_attachment(row)


async def release(conn: Connection, row: AttachmentRow) -> None:
    """Give back the room reserved for an upload that failed, inside a transaction."""
    await attachments.release(conn, row.id)


async def find(conn: Connection, conversation_id: str, user_id: str, attachment_id: str) -> AttachmentRow:
    """Find an attachment for a participant; one that no message shows yet is found by its uploader alone.

    Raises:
        ConversationNotFound: no such conversation, or the user is not in it.
        NotFound: the conversation has no such attachment, or it is another user's and not in a message yet.
    """
    if not await members.is_member(conn, conversation_id, user_id):
        raise ConversationNotFound
    rows = await attachments.by_ids(conn, conversation_id, [attachment_id])
    if not rows or (rows[0].message_id is None and rows[0].uploader_id != user_id):
        raise NotFound("attachment not found")
    return rows[0]
