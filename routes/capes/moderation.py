"""Routes that moderate capes; all need `capes:moderate`, which moderators hold (service-api §4 Capes, contract §8)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.capes.moves import Verdict
from actors.capes.public import changed, page_all
from actors.capes.units_moderation import REASON_MAX, Moderation, Moderator, moderate, remove
from actors.capes.units_own import clean_description, clean_name
from actors.errors import Conflict, Forbidden, Invalid, NotFound
from actors.ids import Uuid
from actors.texts import lines_or_none
from persistence.capes.rows import Cape, CapeStatus, read_cape
from routes.auditing import stamp_of
from routes.call import Call
from routes.capes.catalog import MODERATE
from routes.capes.entries import (
    CapeDescription,
    CapeName,
    ModeratedCapeEntry,
    ModeratedCapePage,
    Paging,
    moderated_entry,
)
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.wire import Wire


class ModerationQuery(Paging, frozen=True):
    """`status`: only capes with this status; left out = all.

    Args:
        status: only capes in this state.
    """

    status: CapeStatus | None = None


class ModerationBody(Wire, frozen=True):
    """A verdict, and changes to the cape; a field that is left out stays.

    Args:
        status: the verdict; `private` returns the cape to its owner.
        reason: shown to the owner, at most 500 characters; the one before goes when the status changes.
        description: a description in place of the uploader's.
        texture_version: `textureVersion` of the entry that the moderator looked at; 409 if the texture has changed.
    """

    status: Verdict | None = None
    reason: Annotated[str, msgspec.Meta(max_length=REASON_MAX)] | None = None
    name: CapeName | None = None
    description: CapeDescription | None = None
    texture_version: Annotated[str, msgspec.Meta(max_length=64)] | None = None


async def known_cape(call: Call, id: Uuid) -> Cape:
    """Guard: reads the cape that is moderated.

    Raises:
        NotFound: no such cape.
    """
    cape = await call.service.database.read(read_cape, id)
    if cape is None:
        raise NotFound("no such cape")
    return cape


@endpoint("GET", "/v1/admin/capes", needs=MODERATE)
async def list_moderated_capes(call: Call, query: ModerationQuery) -> ModeratedCapePage:
    """The capes of all users, newest first; needs `capes:moderate`."""
    unit = partial(page_all, status=query.status, limit=query.limit, offset=query.offset)
    page = await call.service.database.read(unit, call.user_id)
    entries = [moderated_entry(shown, call.service.config.base_url) for shown in page.capes]
    return ModeratedCapePage(entries, page.total, query.limit, query.offset)


@endpoint(
    "PATCH",
    "/v1/admin/capes/{id}",
    needs=MODERATE,
    refusals=(NotFound, Forbidden, Invalid, Conflict),
    guard=known_cape,
)
async def moderate_cape(call: Call, id: Uuid, body: ModerationBody) -> ModeratedCapeEntry:
    """Gives a verdict on a cape in any status; the owner is notified.

    Needs `capes:moderate`. A moderator's own cape is a 403, unless they are a super-admin.
    """
    said = Moderation(
        body.status,
        lines_or_none(body.reason, "/reason", REASON_MAX),
        None if body.name is None else clean_name(body.name),
        None if body.description is None else clean_description(body.description),
        body.texture_version,
    )
    unit = partial(moderate, id=id, said=said, by=_moderator(call))
    shape = partial(moderated_entry, base_url=call.service.config.base_url)
    return await change(call, changed, unit, call.user_id, about=_notice(call), shape=shape)


@endpoint("DELETE", "/v1/admin/capes/{id}", needs=MODERATE, refusals=(NotFound, Forbidden), guard=known_cape)
async def remove_moderated_cape(call: Call, id: Uuid) -> None:
    """Removes a cape and its moderation; the owner is notified.

    Needs `capes:moderate`. Answers 204.
    """
    await change(call, remove, id, _moderator(call), about=_notice(call))


def _moderator(call: Call) -> Moderator:
    return Moderator(stamp_of(call), call.new_id(), also_own=call.user.access.is_super_admin)


def _notice(call: Call) -> str:
    cape: Cape = call.subject
    return f"notifications {cape.owner_id}"
