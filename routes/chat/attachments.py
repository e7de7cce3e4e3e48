"""Attachments: bytes that belong to a conversation and its uploader (contract §4).

The bytes are checked, hashed and written in a worker thread, since all of that blocks; the row is committed
after the file is durable. They are served as a download that no browser runs.
"""

import trio

from actors.chat.attachments import (
    QUOTA_BYTES,
    Upload,
    UploadDraft,
    add,
    attachment_row,
    check_may_upload,
    check_upload,
    find,
    served_type,
)
from actors.chat.public import Attachment
from actors.errors import (
    Blocked,
    ConversationNotFound,
    FieldError,
    Invalid,
    NotFound,
    Overloaded,
    QuotaExceeded,
    TooLarge,
)
from actors.ids import ObjectId, new_object_id
from persistence.blobs import Blobs
from persistence.chat.attachments import used_bytes
from routes.chat.channels import READ, WRITE
from routes.chat.membership import NOT_FOUND, participant
from routes.edge.call import Call
from routes.edge.config import Config
from routes.edge.endpoint import endpoint
from routes.edge.reply import Blob

_PATH = "/v1/social/chat/conversations/{conversationId}/attachments"


def body_bound(config: Config) -> int:
    """The largest JSON of an upload: the largest file in base64, and room for the rest."""
    return -(-config.attachment_max_bytes // 3) * 4 + 64 * 1024


@endpoint(
    "POST",
    _PATH,
    needs=WRITE,
    status=201,
    rate="upload",
    refusals=(ConversationNotFound, Blocked, Invalid, QuotaExceeded, TooLarge, Overloaded),
    guard=participant,
    not_found=NOT_FOUND,
    max_bytes=body_bound,
    refuse_query_tokens=True,
)
async def upload_attachment(call: Call, conversation_id: ObjectId, body: UploadDraft) -> Attachment:
    """POST …/conversations/{conversationId}/attachments: stores a file, to be shown by a message within 24 h.

    Needs `social:chat.write` and membership; a block between the two of a direct conversation is a 403 `BLOCKED`. At
    most 8 MiB decoded (413), 256 MiB a user in all (422 `QUOTA_EXCEEDED`); the bytes must be what `contentType` says
    (422).
    """
    service = call.service
    # Asked before anything is decoded and kept; decided when the row is written.
    await service.database.read(check_may_upload, conversation_id)
    upload = await trio.to_thread.run_sync(check_upload, body, service.config.attachment_max_bytes)
    # Asked before anything is written, so that a user without room cannot fill the disk; decided below.
    used = await service.database.read(used_bytes, call.user_id)
    if used + len(upload.data) > QUOTA_BYTES:
        error = FieldError("/dataBase64", "QUOTA", f"all your attachments may have {QUOTA_BYTES} bytes")
        raise QuotaExceeded(error, maxBytes=QUOTA_BYTES)
    row = attachment_row(
        upload,
        id=new_object_id(call.now_ms, service.random_bytes),
        conversation_id=conversation_id,
        uploader_id=call.user_id,
        sha256=await trio.to_thread.run_sync(_keep, service.blobs, upload),
        now_ms=call.now_ms,
    )
    return await call.transact(add, row)


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
    """GET …/conversations/{conversationId}/attachments/{attachmentId}: the bytes, with ETag and Range.

    Needs `social:chat.read` and membership; one that no message shows yet is its uploader's alone (404 for
    others). A bearer token in the address is a 400.
    """
    row = await call.service.database.read(find, conversation_id, call.user_id, attachment_id)
    return Blob(
        content=call.service.blobs.path(row.sha256),
        content_type=served_type(row.content_type),
        filename=row.file_name,
        etag=row.sha256.hex(),
    )


def _keep(blobs: Blobs, upload: Upload) -> bytes:
    """Store the bytes durably; in a worker thread.

    Raises:
        Overloaded: the disk does not take them.
    """
    try:
        return blobs.store(upload.data)
    except OSError as error:
        raise Overloaded("attachments cannot be stored right now") from error
