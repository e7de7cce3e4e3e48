"""All gateways in memory: their rows, and when each was heard last."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager

from msgspec.structs import replace

from actors.gateways.public import Gateway, gateway_of
from actors.kernel.clock import Clock
from actors.meanwhile import Meanwhile
from persistence.gateways.gateways import GatewayRow

HEARTBEAT_INTERVAL_MS = 10_000
"""How often a gateway has to send a heartbeat."""

SILENT_MS = 3 * HEARTBEAT_INTERVAL_MS
"""A gateway that has sent no heartbeat for so long is offline: it has missed three."""


class Registry:
    """The gateways, as the committed changes of their rows say.

    Args:
        clock: the time that heartbeats go by.
        rows: the rows of all gateways.
    """

    def __init__(self, clock: Clock, rows: Iterable[GatewayRow]) -> None:
        self._clock = clock
        self._since_ms = clock.now_ms()
        self._rows = {row.gateway_id: row for row in rows}
        self._heard: dict[str, tuple[int, int]] = {}  # {gateway: (at_ms, connections)}
        self._unwritten: set[str] = set()
        self._told: Meanwhile[str] = Meanwhile()

    def told(self, gateway_id: str) -> None:
        """Note that a gateway has changed, so that its row is to be read: what is being read of it now is outdated."""
        self._told.told(gateway_id)

    def reading(self) -> AbstractContextManager[AbstractSet[str]]:
        """Collect the gateways that change while rows are read."""
        return self._told.reading()

    def changed(self, row: GatewayRow) -> None:
        """Take in a gateway's row as it was read, during which the gateway did not change."""
        former = self._rows.get(row.gateway_id)
        if former is None or former.secret != row.secret:
            self._heard[row.gateway_id] = row.last_heartbeat_at_ms, row.connections
        self._rows[row.gateway_id] = row

    def confirmed(self, gateway_id: str, secret: bytes, revision: int) -> None:
        """Take in which routes a gateway has.

        Args:
            secret: the SHA-256 of the secret that it said it with; ignored unless it is the present one.
            revision: the revision of these routes. An older one that is heard late is corrected by the next heartbeat.
        """
        row = self._rows.get(gateway_id)
        if row is not None and row.secret == secret:
            self._rows[gateway_id] = replace(row, confirmed_revision=revision)

    def forgotten(self, gateway_id: str) -> None:
        """Take in that a gateway is gone."""
        self.told(gateway_id)
        self._rows.pop(gateway_id, None)
        self._heard.pop(gateway_id, None)
        self._unwritten.discard(gateway_id)

    def row(self, gateway_id: str) -> GatewayRow | None:
        """A gateway, or None."""
        return self._rows.get(gateway_id)

    def rows(self) -> Sequence[GatewayRow]:
        """All gateways, the newest first."""
        return sorted(self._rows.values(), key=lambda row: row.gateway_id, reverse=True)

    def shown(self, row: GatewayRow) -> Gateway:
        """The gateway as clients see it, with its last heartbeat."""
        return gateway_of(row, self._heard.get(row.gateway_id))

    def heard(self, gateway_id: str, at_ms: int, connections: int) -> None:
        """Take in a heartbeat that has come to some node.

        Args:
            at_ms: when it came, epoch milliseconds; one that is older than the last one known is ignored.
            connections: how many connections the gateway has.
        """
        if gateway_id in self._rows and at_ms >= self._heard.get(gateway_id, (0, 0))[0]:
            self._heard[gateway_id] = at_ms, connections
            self._unwritten.add(gateway_id)

    def is_silent(self, row: GatewayRow) -> bool:
        """Whether too many heartbeats are missing. After a start each gateway that was online has as long as after a
        heartbeat."""
        now_ms, written_ms = self._clock.now_ms(), row.last_heartbeat_at_ms
        # What is written as of the future was heard before the start, while the clock was ahead.
        at_ms, _ = self._heard.get(row.gateway_id, (0 if written_ms > now_ms else written_ms, 0))
        return now_ms - (max(at_ms, self._since_ms) if row.online else at_ms) >= SILENT_MS

    def begin(self) -> None:
        """Give each gateway that is online as long as after a heartbeat: none could be heard for a while."""
        self._since_ms = self._clock.now_ms()

    def gone_silent(self) -> list[str]:
        """The ids of gateways whose rows say that they are online, but that are silent."""
        return [row.gateway_id for row in self._rows.values() if row.online and self.is_silent(row)]

    def come_back(self) -> list[str]:
        """The ids of gateways whose rows say that they are offline, but that were heard."""
        return [
            row.gateway_id
            for row in self._rows.values()
            if not row.online and row.gateway_id in self._heard and not self.is_silent(row)
        ]

    def unwritten(self) -> dict[str, tuple[int, int]]:
        """{gateway: (epoch milliseconds, connections)} of heartbeats that are not in rows yet."""
        return {gateway_id: self._heard[gateway_id] for gateway_id in self._unwritten}

    def written(self, heartbeats: dict[str, tuple[int, int]]) -> None:
        """Note that these heartbeats are in rows now; later ones of the same gateways stay unwritten."""
        self._unwritten -= {one for one, heard in heartbeats.items() if self._heard.get(one) == heard}
