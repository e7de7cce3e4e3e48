"""What the game stores for the caller: their level, and the game's options (contract §10)."""

import msgspec

from actors.bounds import Bigint, JsonObject
from actors.errors import Invalid, NotFound, RevisionConflict
from actors.time import iso
from actors.users import units_options
from actors.users.levels import level_of
from actors.users.units_options import OPTIONS_MAX_BYTES
from actors.users.units_shares import json_object
from persistence.users import experience
from persistence.users.options import Options
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.pipeline.revisions import etag_of, revisions_known
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Tagged
from routes.edge.wire import Wire

BODY_MAX_BYTES = OPTIONS_MAX_BYTES + 16 * 1024

_OPTIONS = "/v1/profile/minecraft-options"


class LevelOut(Wire, frozen=True):
    """The caller's level.

    Args:
        level: 1 and up.
        xp: experience gained within this level.
        xp_for_next: experience that the whole of this level takes.
        total_xp: experience gained in all.
    """

    level: int
    xp: int
    xp_for_next: int
    total_xp: int


class OptionsBody(Wire, frozen=True):
    """The options to store.

    Args:
        options: any JSON object of at most 64 KiB; the server stores it without interpreting it.
        revision: the revision that the client has changed, in place of If-Match; left out or null = any.
    """

    options: JsonObject
    revision: Bigint | None = None


class OptionsOut(Wire, frozen=True):
    """The stored options.

    Args:
        options: the options, {name: value}.
        revision: 0 before anything was stored; also the ETag.
        updated_at: time of the last change, or null.
    """

    options: JsonObject
    revision: int
    updated_at: str | None


@endpoint("GET", "/v1/profile/level", needs=AUTHENTICATED)
async def read_level(call: Call) -> LevelOut:
    """The caller's level. Level n takes 100·n experience."""
    total_xp = await call.service.database.read(experience.read, call.user_id)
    level = level_of(total_xp)
    return LevelOut(level.level, level.xp, level.xp_for_next, total_xp)


@endpoint("GET", _OPTIONS, needs=AUTHENTICATED)
async def read_minecraft_options(call: Call) -> Tagged[OptionsOut]:
    """The game's options as the caller last stored them."""
    return _shown(await call.service.database.read(units_options.read, call.user_id))


@endpoint(
    "PUT",
    _OPTIONS,
    needs=AUTHENTICATED,
    max_bytes=BODY_MAX_BYTES,
    refusals=(Invalid, NotFound, RevisionConflict),
)
async def put_minecraft_options(call: Call, body: OptionsBody) -> Tagged[OptionsOut]:
    """Stores the game's options.

    If-Match, or `revision`, names the revision that the client has changed: if it is not the current one, the answer is
    a 409 `REVISION_CONFLICT`, with the current one in `meta.revision`.
    """
    known = revisions_known(call)
    if body.revision is not None:
        known = frozenset({body.revision}) & (known if known is not None else {body.revision})
    new = json_object(body.options, "/options", OPTIONS_MAX_BYTES)
    return await change(
        call, units_options.change, call.user_id, new, known, call.now_ms, about=None, shape=_shown
    )


def _shown(kept: Options) -> Tagged[OptionsOut]:
    updated_at = iso(kept.updated_at_ms) if kept.revision else None
    out = OptionsOut(msgspec.Raw(kept.options), kept.revision, updated_at)
    return Tagged(out, etag_of(kept.revision))
