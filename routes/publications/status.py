"""The status that a game server reports of itself (service-api §4, contract §7 Publications)."""

from typing import Annotated

import msgspec

from actors.bounds import Bigint, IdText
from actors.errors import Forbidden, Invalid, NotFound
from actors.field_errors import FieldError
from actors.ids import Uuid
from actors.texts import without_controls
from actors.time import parse_iso
from persistence.connect.rows import ServerRow
from persistence.publications.rows import StatusRow
from routes.call import Call
from routes.connect.guards import itself_for
from routes.connect.parts import GAME_SERVERS
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import SERVER
from routes.edge.reply import MaybeAwaitable
from routes.edge.wire import Wire
from routes.publications.parts import STATUSES
from routes.rates import STATUS_PUSH

MAX_MOTD_CHARACTERS = 500

SCOPE = "server.status.write"
"""The scope that a delegated token needs."""


class StatusBody(Wire, frozen=True):
    """A server's status.

    Args:
        online: whether players can join.
        address: where the server listens, as it knows it; never shown, since the published address applies.
        motd: plain text; control characters are removed.
        player_count, player_capacity: clamped to 0 to capacity, and to 0 to 100,000.
        updated_at: time of the status; null for now. A time in the future counts as now.
    """

    online: bool
    address: Annotated[str, msgspec.Meta(max_length=255)] | None = None
    motd: Annotated[str, msgspec.Meta(max_length=MAX_MOTD_CHARACTERS)] | None = None
    player_count: Bigint = 0
    player_capacity: Bigint = 0
    updated_at: IdText | None = None


class StatusReply(Wire, frozen=True):
    """The status was accepted.

    Args:
        ok: always true.
        network_id: the network to whose status it contributes, or null.
    """

    ok: bool
    server_id: str
    network_id: str | None


@endpoint(
    "PUT",
    "/v1/connect/servers/{serverId}/publication/status",
    needs=SERVER,
    rate=STATUS_PUSH,
    refusals=(NotFound, Forbidden, Invalid),
    guard=itself_for(SCOPE),
)
def push_status(call: Call, server_id: Uuid, body: StatusBody) -> MaybeAwaitable[StatusReply]:
    """The calling server reports its status, twice a second at most.

    Updates the publications of the server and of its network, and publishes nothing by itself. A status older than the
    last one is ignored. A status counts for 90 seconds. The status of a server that is not claimed is not kept.
    """
    row = call.service.of(GAME_SERVERS).credentials.peek(server_id)
    return _push_later(call, server_id, body) if row is None else _push(call, row, body)


def _push(call: Call, row: ServerRow, body: StatusBody) -> StatusReply:
    report = StatusRow(
        server_id=row.server_id,
        network_id=row.network_id,
        online=body.online,
        motd=without_controls(body.motd or "").strip(),
        players=body.player_count,
        capacity=body.player_capacity,
        at_ms=_moment(body.updated_at, call.now_ms),
    )
    if row.owner_id is not None:
        call.service.of(STATUSES).report(report, call.now_ms)
    return StatusReply(True, row.server_id, row.network_id)


async def _push_later(call: Call, server_id: Uuid, body: StatusBody) -> StatusReply:
    row = await call.service.of(GAME_SERVERS).credentials.of(server_id)
    if row is None:
        raise NotFound
    return _push(call, row, body)


def _moment(text: str | None, now_ms: int) -> int:
    if text is None:
        return now_ms
    try:
        return parse_iso(text)
    except ValueError:
        raise Invalid(FieldError("/updatedAt", "BAD_FORMAT", "an ISO 8601 timestamp with a zone")) from None
