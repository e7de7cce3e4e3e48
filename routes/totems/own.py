"""The route that sets the caller's totem: an upload, or an existing one."""

from functools import partial
from typing import Annotated

import msgspec

from actors.bounds import ShortText, UuidText, ruled
from actors.errors import Forbidden, Invalid, NotFound, TooLarge
from actors.field_errors import FieldError
from actors.ids import parse_uuid
from actors.texts import with_line_feeds
from actors.totems.documents import MAX_BYTES, check_upload
from actors.totems.units import (
    MAX_AUTHOR_CHARACTERS,
    MAX_DESCRIPTION_CHARACTERS,
    Draft,
    activate,
    check_draft,
    upload,
)
from persistence.totems.totems import Format, Model
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.rates import UPLOAD
from routes.totems import ALIAS, PATH, WRITE
from routes.totems.parts import TOTEM_CHECKS
from routes.totems.public import Rating, Totem, totem_of

BODY_MAX_BYTES = -(-MAX_BYTES // 3) * 4 + 16 * 1024
"""Largest request body: the largest model in base64, and 16 KiB for the other fields."""


class NewModel(Wire, frozen=True):
    """A model to upload.

    Args:
        format: the program that the model is for.
        data: base64 of JSON, at most 512 KiB decoded.
    """

    format: Format
    data: str


class NewAuthor(Wire, frozen=True):
    """The author of the model; every field may be left out.

    Args:
        id: the caller's id, or left out.
        name: a credit; must not be the name of another user.
        description: what they say of themselves.
    """

    id: UuidText | None = None
    name: Annotated[ShortText, ruled(maxLength=MAX_AUTHOR_CHARACTERS)] | None = None
    description: Annotated[ShortText, ruled(maxLength=MAX_DESCRIPTION_CHARACTERS)] | None = None


class TotemChoice(Wire, frozen=True):
    """The totem to carry: exactly one of `data` and `itemModelId`.

    Args:
        data: a new model; `fileName`, `rating` and `author` describe it.
        item_model_id: an existing totem that the caller may see.
    """

    data: NewModel | None = None
    item_model_id: Annotated[str, msgspec.Meta(pattern="^[0-9a-fA-F]{24}$")] | None = None
    file_name: Annotated[str, msgspec.Meta(max_length=255)] | None = None
    rating: Rating | None = None
    author: NewAuthor | None = None


@endpoint(
    "POST",
    PATH,
    needs=WRITE,
    status=201,
    found_status=200,
    rate=UPLOAD,
    aliases=(ALIAS,),
    refusals=(NotFound, Forbidden, TooLarge),
    max_bytes=BODY_MAX_BYTES,
)
async def choose_totem(call: Call, body: TotemChoice) -> Totem | Reply[Totem]:
    """Sets the caller's totem: one uploaded with the request (`data`, 201), or an existing one (`itemModelId`, 200).

    Exactly one of the two is required; none or both are a 422. An existing one that is on sale, and that the caller has
    neither made nor bought, is a 403. An upload is checked by the rules of its format; `nsfw` and `nsfl` need an age of
    16 or more. The author's id must be the caller's, and their name the caller's own or that of no user. `fileName`,
    `rating` and `author` apply to uploads only.
    """
    data, model_id = body.data, body.item_model_id
    if data is not None and model_id is None:
        return await _upload(call, body, data)
    if model_id is not None and data is None:
        carry = partial(activate, gallery=call.service.config.totem_gallery)
        return await change(
            call, carry, call.user_id, model_id.lower(), call.now_ms, about=None, shape=_found_reply
        )
    if data is None:
        raise Invalid(FieldError("/data", "REQUIRED", "data or itemModelId is needed"))
    raise Invalid(FieldError("/itemModelId", "NOT_ALLOWED", "data and itemModelId exclude each other"))


async def _upload(call: Call, body: TotemChoice, data: NewModel) -> Totem:
    draft = _draft(body, data)
    check_draft(draft, call.user_id)
    check = partial(check_upload, data.format, data.data)
    content = await call.service.of(TOTEM_CHECKS).run(call.user_id, check, abandon=True)
    model_id = call.new_id()
    store = partial(upload, now_ms=call.now_ms)
    return await change(call, store, call.user_id, model_id, draft, content, about=None, shape=totem_of)


def _found_reply(model: Model) -> Reply[Totem]:
    return Reply(totem_of(model), status=200)


def _draft(body: TotemChoice, data: NewModel) -> Draft:
    rating, author = body.rating or Rating(), body.author or NewAuthor()
    author_id = None if author.id is None else parse_uuid(author.id) or author.id
    return Draft(
        format=data.format,
        file_name=body.file_name,
        content=rating.content,
        age=rating.age,
        author_id=author_id,
        author_name=(author.name or "").strip() or None,
        author_description=with_line_feeds(author.description or "").strip() or None,
    )
