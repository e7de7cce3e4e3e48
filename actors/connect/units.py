"""Register a game server that is not claimed yet: a unit of work."""

from actors.errors import QuotaExceeded
from persistence.connect import servers
from persistence.connect.rows import ClaimKeyRow, ServerRow
from persistence.connection import Connection


async def register(
    conn: Connection, row: ServerRow, key: ClaimKeyRow, max_unclaimed: int, *, epoch: str
) -> None:
    """Store an unclaimed server and its first claim key; inside a transaction.

    Args:
        max_unclaimed: the most unclaimed servers of the whole service.
        epoch: a fresh name for the server's journal.

    Raises:
        QuotaExceeded: there are that many already. A server leaves the count when it is claimed, or was silent for a
            day.
    """
    if await servers.count_unclaimed(conn, max_unclaimed) >= max_unclaimed:
        raise QuotaExceeded(message="too many servers wait to be claimed; try again later", max=max_unclaimed)
    await servers.create(conn, row, key, epoch=epoch)
