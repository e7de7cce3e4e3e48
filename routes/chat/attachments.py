"""Attachments: files that belong to a conversation and its uploader (contract §4).

The bytes are checked, hashed and written in a worker thread, since all of that blocks, two uploads at a time. Quota is
reserved before a byte is written, and the row becomes visible after the file is durable. Files are served as downloads
that a browser does not execute.
"""

from functools import partial

import structlog
import trio

from actors.chat.attachments import (
    Upload,
    UploadDraft,
    attachment_row,
    check_may_upload,
    check_upload,
    find,
    keep,
    release,
    reserve,
    served_type,
)
from actors.chat.public import Attachment
from actors.errors import (
    Blocked,
    ConversationNotFound,
    Invalid,
    NotFound,
    Overloaded,
    QuotaExceeded,
    TooLarge,
)
from actors.ids import ObjectId
from persistence.chat.rows import AttachmentRow
from persistence.errors import PersistenceError
from routes.call import Call
from routes.changes import change, change_by_itself
from routes.chat.again import attachment_again
from routes.chat.channels import READ, WRITE
from routes.chat.guards import NOT_FOUND, participant
from routes.chat.parts import BLOBS, UPLOAD_CHECKS
from routes.config.config import Config
from routes.edge.declare.endpoint import endpoint
from routes.edge.reply import Blob
from routes.rates import UPLOAD
from routes.service import Service

RELEASE_SECONDS = 2.0
"""Longest wait of a failed upload for the release of its reserved quota."""

log = structlog.get_logger()

_PATH = "/v1/social/chat/conversations/{conversationId}/attachments"


def body_bound(config: Config) -> int:
    """Largest request body of an upload, in bytes: the largest file in base64, and 64 KiB for the other fields."""
    return -(-config.attachment_max_bytes // 3) * 4 + 64 * 1024


@endpoint(
    "POST",
    _PATH,
    needs=WRITE,
    status=201,
    rate=UPLOAD,
    refusals=(ConversationNotFound, NotFound, Blocked, Invalid, QuotaExceeded, TooLarge, Overloaded),
    guard=participant,
    not_found=NOT_FOUND,
    again=attachment_again,
    max_bytes=body_bound,
    refuse_query_tokens=True,
)
async def upload_attachment(call: Call, conversation_id: ObjectId, body: UploadDraft) -> Attachment:
    """Stores a file; it is removed if no message refers to it within 24 h.

    Needs `social:chat.write` and membership; a block between the two of a direct conversation is a 403 `BLOCKED`. At
    most 8 MiB decoded (413), 256 MiB and 65,536 files a user in all and 1 GiB within a day (422 `QUOTA_EXCEEDED`); the
    bytes must be of the type that `contentType` names (422). If the disk is nearly full, it is a 503.
    """
    service = call.service
    # An early check, before the file is decoded and stored; the final one is made when the row is written.
    await service.database.read(check_may_upload, conversation_id)
    checks = service.of(UPLOAD_CHECKS)
    check = partial(check_upload, body, service.config.attachment_max_bytes)
    upload = await checks.run(call.user_id, check)
    row = attachment_row(
        upload,
        id=call.new_id(),
        conversation_id=conversation_id,
        uploader_id=call.user_id,
        now_ms=call.now_ms,
    )
    await change_by_itself(service, reserve, row, about=None)
    try:
        await checks.run(call.user_id, partial(_store, service, upload))
        return await change(call, keep, row, about=None)
    except BaseException:
        await _release(service, row)
        raise


@endpoint(
    "GET",
    _PATH + "/{attachmentId}",
    needs=READ,
    refusals=(ConversationNotFound, NotFound),
    guard=participant,
    not_found=NOT_FOUND,
    refuse_query_tokens=True,
)
async def download_attachment(call: Call, conversation_id: ObjectId, attachment_id: ObjectId) -> Blob:
    """The bytes, with ETag and Range.

    Needs `social:chat.read` and membership; before a message refers to it, only its uploader may read it (404 for
    others). A bearer token in the query is a 400.
    """
    row = await call.service.database.read(find, conversation_id, call.user_id, attachment_id)
    return Blob(
        content=call.service.of(BLOBS).path(row.sha256),
        content_type=served_type(row.content_type),
        filename=row.file_name,
        etag=row.sha256.hex(),
    )


def _store(service: Service, upload: Upload) -> None:
    """Store the bytes durably; blocks, so it is called in a worker thread.

    Raises:
        Overloaded: writing failed, or the disk would keep less than the configured minimum free.
    """
    blobs = service.of(BLOBS)
    try:
        if blobs.free_bytes() - len(upload.data) < service.config.disk_free_min_bytes:
            log.warning("an upload was refused: the disk is nearly full", free_bytes=blobs.free_bytes())
            raise Overloaded("the disk is nearly full: no attachments are taken")
        blobs.store(upload.data)
    except OSError as error:
        raise Overloaded("attachments cannot be stored right now") from error


async def _release(service: Service, row: AttachmentRow) -> None:
    """Release the reserved quota, also under cancellation; if that fails, the sweep job does it later.

    A reservation that has become an attachment stays: its commit may have succeeded without the caller knowing.
    """
    with trio.move_on_after(RELEASE_SECONDS, shield=True):
        try:
            await change_by_itself(service, release, row, about=None)
        except PersistenceError as failure:
            log.warning("room for an upload was not given back", reason=type(failure).__name__)
