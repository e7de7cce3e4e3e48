"""What is known of published servers while the service runs."""

from actors.publications.statuses import Statuses
from routes.part import Opening, Part


async def _open(opening: Opening) -> Statuses:
    statuses = Statuses(opening.config.freshness_seconds * 1000)
    await statuses.open(opening.database, opening.clock.now_ms())
    return statuses


STATUSES = Part(name="statuses of servers", open=_open)
"""What game servers say of themselves."""
