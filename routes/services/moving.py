"""Has game servers replace an extension by another, or remove it: each in one turn of its own actor."""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import trio

from actors.connect.commands import AnyCommand, DropExtension, MigrateExtension, Moved
from actors.errors import Refused
from actors.kernel.supervisor import Contained
from actors.services import units_services
from actors.vault import NONCE_BYTES
from persistence.errors import PersistenceError
from persistence.services import services
from persistence.services.services import ServiceRow
from routes.connect.parts import GAME_SERVERS
from routes.service import Service

IN_FLIGHT = 50
"""Most game servers that are asked at once."""

MOVING_SECONDS = 3.0
"""How long a request waits for game servers; a job goes on with those that are left."""


class Totals(msgspec.Struct):
    """Counts of what was moved, over all game servers.

    Args:
        servers: game servers on which something was moved.
    """

    servers: int = 0
    settings: int = 0
    registrations: int = 0

    def add(self, moved: Moved) -> None:
        """Add what one game server has moved."""
        self.servers += bool(moved.settings or moved.registrations)
        self.settings += moved.settings
        self.registrations += moved.registrations


async def move(service: Service, row: ServiceRow, totals: Totals) -> None:
    """Replace the former extension of a service on all game servers of its owner that still have it.

    Those that cannot be asked now are left; nothing is half moved.

    Args:
        service: the running service, whose game servers are asked.
        row: the user's service, which already has its new extension.
        totals: what is moved is added to it, also what was moved before a cancellation.

    Raises:
        PersistenceError: the game servers cannot be read.

    Cancellation: a game server whose turn has been decided is moved.
    """
    former_id = row.migrating_from
    if former_id is None:
        return
    server_ids = await service.database.read(units_services.left_of, row)

    def command() -> AnyCommand:
        return MigrateExtension(
            user_id=row.owner_id,
            former_id=former_id,
            extension_id=row.extension_id,
            nonce=service.random_bytes(NONCE_BYTES),
        )

    await _ask_all(service, server_ids, command, totals.add)


async def drop(service: Service, row: ServiceRow) -> int:
    """Remove a service's extension from its owner's game servers that can be asked now; returns from how many.

    Raises:
        PersistenceError: the game servers cannot be read.

    Cancellation: a game server whose turn has been decided has removed it.
    """
    server_ids = await service.database.read(services.servers_registered, row.owner_id, row.extension_id)
    removed = 0

    def count(one: int) -> None:
        nonlocal removed
        removed += one

    command = DropExtension(user_id=row.owner_id, extension_id=row.extension_id)
    await _ask_all(service, server_ids, lambda: command, count)
    return removed


async def _ask_all(
    service: Service, server_ids: Sequence[str], command: Callable[[], AnyCommand], take: Callable[..., None]
) -> None:
    limit = trio.CapacityLimiter(IN_FLIGHT)

    async def ask(server_id: str) -> None:
        async with limit:
            with Contained("asking a game server of a service", "server", server_id):
                try:
                    take(await service.system.ask(service.of(GAME_SERVERS).server, server_id, command()))
                except (Refused, PersistenceError):
                    return  # it is asked again

    async with trio.open_nursery() as nursery:
        for server_id in server_ids:
            nursery.start_soon(partial(ask, server_id))
