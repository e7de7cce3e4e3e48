"""Routes for the caller's own capes: uploading, editing, submitting (service-api §4 Capes)."""

from collections.abc import Awaitable, Callable
from functools import partial

from actors.capes.public import ShownCape, changed, find_owned, page_owned
from actors.capes.units_own import (
    CapeDraft,
    CapeEdit,
    clean_description,
    clean_name,
    delete,
    draft,
    edit,
    submit,
    withdraw,
)
from actors.change import Change
from actors.errors import Conflict, Invalid, NotFound, QuotaExceeded, TermsNotAccepted, TooLarge
from actors.ids import Uuid, new_uuid
from actors.moderation.events import QUEUES
from persistence.capes.rows import Cape
from persistence.connection import Connection
from routes.call import Call
from routes.capes.entries import (
    CapeDescription,
    CapeName,
    OwnCapeEntry,
    OwnCapePage,
    Paging,
    own_entry,
)
from routes.capes.textures import CAPE_WORKSHOP
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire
from routes.rates import UPLOAD

BODY_MAX_BYTES = 768 * 1024
"""Largest request body: the largest texture in base64, and the other fields."""


class CapeTexture(Wire, frozen=True):
    """`dataUrl`: `data:image/png;base64,…`; 64x32 or 64x64, at most 512 KiB decoded.

    Args:
        data_url: the texture, a PNG as a `data:` URL.
    """

    data_url: str


class CapeBody(Wire, frozen=True):
    """A cape to be stored as a draft.

    Args:
        name: its name.
        description: what it shows.
    """

    name: CapeName
    texture: CapeTexture
    description: CapeDescription = ""


class CapePatch(Wire, frozen=True):
    """Changes to a cape; a field that is left out stays.

    Args:
        name: its name.
        description: what it shows.
    """

    name: CapeName | None = None
    description: CapeDescription | None = None
    texture: CapeTexture | None = None


async def own_cape(call: Call, id: Uuid) -> ShownCape:
    """Guard: reads the caller's cape; for other users it does not exist.

    Raises:
        NotFound: the caller has no such cape.
    """
    return await call.service.database.read(find_owned, id, call.user_id)


@endpoint("GET", "/v1/profile/capes", needs=AUTHENTICATED)
async def list_own_capes(call: Call, query: Paging) -> OwnCapePage:
    """The caller's capes in every state, newest first."""
    page = await call.service.database.read(page_owned, call.user_id, query.limit, query.offset)
    entries = [own_entry(shown, call.service.config.base_url) for shown in page.capes]
    return OwnCapePage(entries, page.total, query.limit, query.offset)


@endpoint(
    "POST",
    "/v1/profile/capes",
    needs=AUTHENTICATED,
    status=201,
    rate=UPLOAD,
    refusals=(NotFound, Invalid, QuotaExceeded, TooLarge),
    max_bytes=BODY_MAX_BYTES,
)
async def upload_cape(call: Call, body: CapeBody) -> OwnCapeEntry:
    """Stores a cape as a draft; at most 100 capes a user. Needs no accepted terms."""
    name, description = clean_name(body.name), clean_description(body.description)
    pictures = await call.service.of(CAPE_WORKSHOP).pictures(call.user_id, body.texture.data_url)
    wanted = CapeDraft(new_uuid(call.service.random_bytes), name, description, pictures)
    return await _change(call, partial(draft, owner_id=call.user_id, wanted=wanted, now_ms=call.now_ms))


@endpoint("GET", "/v1/profile/capes/{id}", needs=AUTHENTICATED, refusals=(NotFound,))
async def read_own_cape(call: Call, id: Uuid) -> OwnCapeEntry:
    """One of the caller's capes."""
    return own_entry(await own_cape(call, id), call.service.config.base_url)


@endpoint(
    "PATCH",
    "/v1/profile/capes/{id}",
    needs=AUTHENTICATED,
    rate=UPLOAD,
    refusals=(NotFound, Invalid, TooLarge, Conflict),
    guard=own_cape,
    max_bytes=BODY_MAX_BYTES,
)
async def edit_cape(call: Call, id: Uuid, body: CapePatch) -> OwnCapeEntry:
    """Changes a cape that is `draft`, `private` or `blocked`; in another status it is a 409."""
    change = CapeEdit(
        None if body.name is None else clean_name(body.name),
        None if body.description is None else clean_description(body.description),
        None
        if body.texture is None
        else await call.service.of(CAPE_WORKSHOP).pictures(call.user_id, body.texture.data_url),
    )
    return await _change(call, partial(edit, owner_id=call.user_id, id=id, change=change, now_ms=call.now_ms))


@endpoint("DELETE", "/v1/profile/capes/{id}", needs=AUTHENTICATED, refusals=(NotFound,), guard=own_cape)
async def delete_cape(call: Call, id: Uuid) -> None:
    """Removes a cape in any status; no user wears it any longer. Answers 204."""
    await change(call, delete, call.user_id, id, about=QUEUES)


@endpoint(
    "POST",
    "/v1/profile/capes/{id}/submit",
    needs=AUTHENTICATED,
    refusals=(NotFound, TermsNotAccepted, Conflict),
    guard=own_cape,
)
async def submit_cape(call: Call, id: Uuid) -> OwnCapeEntry:
    """Submits a `draft` or `private` cape to the moderators; it becomes `pending`.

    The current upload terms must be accepted (403 `TERMS_NOT_ACCEPTED`).
    """
    return await _change(call, partial(submit, owner_id=call.user_id, id=id, now_ms=call.now_ms))


@endpoint(
    "POST",
    "/v1/profile/capes/{id}/withdraw",
    needs=AUTHENTICATED,
    refusals=(NotFound, Conflict),
    guard=own_cape,
)
async def withdraw_cape(call: Call, id: Uuid) -> OwnCapeEntry:
    """Takes back a `pending` cape; it becomes `private`."""
    return await _change(call, partial(withdraw, owner_id=call.user_id, id=id, now_ms=call.now_ms))


async def _change(call: Call, unit: Callable[[Connection], Awaitable[Change[Cape]]]) -> OwnCapeEntry:
    shape = partial(own_entry, base_url=call.service.config.base_url)
    return await change(call, changed, unit, call.user_id, about=QUEUES, shape=shape)
