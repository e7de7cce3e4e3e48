"""Counters of what a gateway has done, and its status."""

from typing import Literal

import msgspec

Reason = Literal[
    "full",
    "address",
    "left",
    "slow",
    "malformed",
    "unknown host",
    "forbidden backend",
    "unreachable",
    "loop",
    "fault",
]
"""Why a connection was not carried, in the order above: the gateway has as many as it may have; too many of the same
address have not been carried yet; it ended before its opening, or let us wait too long for it; its bytes are nothing
that we carry; there is no such route; its backend is at an address that we do not connect to; its backend does not
answer; it has come through us already; a mistake of ours."""


class TurnedAway(Exception):
    """A connection is not carried.

    Args:
        reason: the reason under which it is counted.
        detail: a line for the person at the terminal, where they can do something about it; empty for none.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail or reason)
        self.reason = reason
        self.detail = detail


class Counters(msgspec.Struct, rename="camel"):
    """Numbers since the start.

    Args:
        accepted: connections that have come.
        carried: connections that have reached a backend.
        pings: old pings that the gateway has answered itself.
        idle: carried connections that were closed because both sides were silent.
        turned_away: connections that were not carried, {reason: how many}.
        bytes_to_backends, bytes_to_players: bytes that were delivered over carried connections.
    """

    accepted: int = 0
    carried: int = 0
    pings: int = 0
    idle: int = 0
    turned_away: dict[Reason, int] = msgspec.field(default_factory=dict)
    bytes_to_backends: int = 0
    bytes_to_players: int = 0

    def turn_away(self, reason: Reason) -> None:
        """Count a connection that is not carried."""
        self.turned_away[reason] = self.turned_away.get(reason, 0) + 1

    def add_to_backends(self, size: int) -> None:
        """Count bytes that a backend was sent."""
        self.bytes_to_backends += size

    def add_to_players(self, size: int) -> None:
        """Count bytes that a player was sent."""
        self.bytes_to_players += size


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """How a gateway is.

    Args:
        service: whether the service has answered the last heartbeat.
        draining: whether nobody is let in any more, since it is to end.
        connections: how many connections it carries now.
        opening: how many connections have not been carried yet.
        revision: the revision of the routes in force.
        routes: how many routes are in force.
    """

    service: Literal["online", "away"]
    draining: bool
    connections: int
    opening: int
    revision: int
    routes: int
    counters: Counters

    def line(self) -> str:
        """The status as one line for a person."""
        told = self.counters
        away = ", ".join(f"{count} {reason}" for reason, count in sorted(told.turned_away.items()))
        return (
            f"{self.connections} connections, {self.routes} routes (revision {self.revision}), "
            f"service {self.service}; since the start {told.accepted} came, {told.carried} carried, "
            f"{_mib(told.bytes_to_players)} to players, {_mib(told.bytes_to_backends)} to backends"
            + (f"; turned away: {away}" if away else "")
        )


def _mib(count: int) -> str:
    return f"{count / 1_048_576:.1f} MiB"
