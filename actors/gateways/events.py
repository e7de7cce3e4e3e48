"""What has happened to gateways and their routes."""

from dataclasses import dataclass

from persistence.gateways.gateways import GatewayRow


@dataclass(frozen=True, slots=True)
class GatewayChanged:
    """A gateway was registered or changed.

    Args:
        row: the gateway's row after this change. A later change may have been told before, so memory takes from it
            only whose row to read.
    """

    row: GatewayRow


@dataclass(frozen=True, slots=True)
class RoutesConfirmed:
    """A gateway that was online already has said which routes it has.

    Args:
        secret: the SHA-256 of the secret that it said it with; what one from before it registered anew says, ends.
        revision: the revision of these routes, as stored.
    """

    gateway_id: str
    secret: bytes
    revision: int


@dataclass(frozen=True, slots=True)
class GatewayForgotten:
    """A gateway is gone."""

    gateway_id: str


@dataclass(frozen=True, slots=True)
class GatewayHeard:
    """A heartbeat of a gateway has come to some node.

    Args:
        at_ms: when it came, epoch milliseconds.
        connections: how many connections the gateway has.
    """

    gateway_id: str
    at_ms: int
    connections: int


@dataclass(frozen=True, slots=True)
class RoutesChanged:
    """There is a new revision of the routes."""
