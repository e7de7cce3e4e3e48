"""Gateways as admins and servers see them."""

from typing import Literal

import msgspec

from actors.time import iso
from persistence.gateways.gateways import GatewayRow

GatewayStatus = Literal["online", "draining", "offline"]
"""The state of a gateway (contract §7)."""

_STATUSES: dict[tuple[bool, bool], GatewayStatus] = {
    (True, False): "online",
    (True, True): "draining",
    (False, False): "offline",
    (False, True): "offline",
}
"""{(online, draining): status}. An offline gateway that was draining drains again when it comes back."""


class Gateway(msgspec.Struct, frozen=True, rename="camel"):
    """A gateway.

    Args:
        region: where it stands, as its operator calls it.
        public_host, port: the host and port that players connect to.
        capacity: how many connections it takes at the same time, as it or an admin has set.
        connections: how many connections it has, as it said last.
        status: `draining` gets no routes and keeps its connections; `offline` has been silent for 30 s.
    """

    gateway_id: str
    region: str
    public_host: str
    port: int
    capacity: int
    connections: int
    status: GatewayStatus
    last_heartbeat_at: str


def status_of(row: GatewayRow) -> GatewayStatus:
    """The status of a gateway."""
    return _STATUSES[row.online, row.draining]


def gateway_of(row: GatewayRow, heard: tuple[int, int] | None) -> Gateway:
    """The gateway as it is shown.

    Args:
        heard: (epoch milliseconds, connections) of a heartbeat that is not written to the row yet.
    """
    at_ms, connections = heard or (row.last_heartbeat_at_ms, row.connections)
    return Gateway(
        gateway_id=row.gateway_id,
        region=row.region,
        public_host=row.public_host,
        port=row.port,
        capacity=row.capacity,
        connections=connections,
        status=status_of(row),
        last_heartbeat_at=iso(at_ms),
    )
