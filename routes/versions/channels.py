"""Channels: which release of a scope each of them points to (contract §10)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.bounds import Bigint, IdText, ObjectIdText, ruled, whole
from actors.errors import Conflict, Invalid, NotFound, QuotaExceeded, RevisionConflict
from actors.field_errors import FieldError
from actors.id_fields import object_id_in
from actors.versions.public import PointerEntry, pointer_entry
from actors.versions.releases import CHANNEL_FORM, SCOPE_ID_FORM, is_channel, scope_flaws
from actors.versions.units_pointers import Activated, activate
from persistence.connection import Connection
from persistence.versions.pointers import Activation, Pointer, activations_of, list_pointers
from persistence.versions.releases import Scope, ScopeType
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.versions.releases import PUBLISH, READ, WRITE

HISTORY_MAX = 50
"""How many revisions of a channel are shown at most."""


class ChannelsQuery(msgspec.Struct, frozen=True, rename="camel"):
    """Which channels.

    Args:
        scope_type, scope_id, channel: only of these.
        history: whether the newest 50 revisions are shown; of one channel only, when all three are given.
    """

    scope_type: ScopeType | None = None
    scope_id: IdText | None = None
    channel: IdText | None = None
    history: bool = False


class Channels(Wire, frozen=True):
    """Channels, by scope and name."""

    items: list[PointerEntry]


class ActivationBody(Wire, frozen=True):
    """What to activate.

    Args:
        channel: 1 to 32 of a-z, 0-9 and -.
        release_id: of a release of this scope; a draft is published by it, an older release than the present one is
            gone back to.
        expected_revision: of the channel as the publisher has seen it, 0 for none; another one is a 409.
    """

    scope_type: ScopeType
    scope_id: Annotated[IdText, ruled(pattern=whole(SCOPE_ID_FORM))]
    channel: Annotated[IdText, ruled(pattern=whole(CHANNEL_FORM))]
    release_id: ObjectIdText
    expected_revision: Bigint | None = None


@endpoint("GET", "/v1/versions/channels/active", needs=READ)
async def list_channels(call: Call, query: ChannelsQuery) -> Channels:
    """Which release each channel points to. Needs `versions:read`.

    Who has activated it is told to those with `versions:write`.
    """

    async def read(conn: Connection) -> tuple[list[Pointer], list[Activation]]:
        found = await list_pointers(conn, query.scope_type, query.scope_id, query.channel)
        one = len(found) == 1 and query.channel is not None
        shown = query.history and one
        history = await activations_of(conn, found[0].scope, found[0].channel, HISTORY_MAX) if shown else []
        return found, history

    found, history = await call.service.database.read(read)
    writes = call.user.access.allows(WRITE)
    return Channels([pointer_entry(one, tuple(history), whole=writes) for one in found])


@endpoint(
    "POST",
    "/v1/versions/channels/active",
    needs=PUBLISH,
    status=201,
    found_status=200,
    refusals=(NotFound, Invalid, Conflict, RevisionConflict, QuotaExceeded),
)
async def activate_release(call: Call, body: ActivationBody) -> PointerEntry | Reply[PointerEntry]:
    """Lets a channel point to a release; the same one again is a 200.

    Needs `versions:publish`. A yanked release is a 409; the audit trail records each change.
    """
    scope = Scope(body.scope_type, body.scope_id)
    flaws = scope_flaws(scope, "/scopeId")
    if not is_channel(body.channel):
        flaws.append(FieldError("/channel", "BAD_FORMAT", "1 to 32 of a-z, 0-9 and -"))
    if flaws:
        raise Invalid(*flaws)
    release_id = object_id_in(body.release_id, "/releaseId")
    unit = partial(activate, expected_revision=body.expected_revision, stamp=stamp_of(call))
    about = f"releases of {scope.type} {scope.id}"
    return await change(call, unit, scope, body.channel, release_id, about=about, shape=_shown)


def _shown(activated: Activated) -> PointerEntry | Reply[PointerEntry]:
    entry = pointer_entry(activated.pointer, whole=True)
    return entry if activated.moved else Reply(entry, status=200)
