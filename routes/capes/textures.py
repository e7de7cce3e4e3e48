"""What is open for capes while the service runs: the workers that decode uploads, and the counts of downloads."""

import trio

from actors.capes.downloads import Downloads
from actors.capes.images import pictures_of
from persistence.bridge.database import Database
from persistence.capes.rows import Pictures
from routes.part import Opening, Part

DECODED_AT_ONCE = 2
"""Uploads under the microscope; more of them wait, at most until their request's deadline."""


class CapeWorkshop:
    """Decodes uploads, a few at once, and counts downloads.

    Args:
        database: where downloads are written.
    """

    def __init__(self, database: Database) -> None:
        self.downloads = Downloads(database)
        self._limiter = trio.CapacityLimiter(DECODED_AT_ONCE)

    async def pictures(self, data_url: str) -> Pictures:
        """The pictures of an upload, made in a worker thread.

        Args:
            data_url: as it came.

        Raises:
            TooLarge, Invalid: as `pictures_of`.

        Cancellation leaves the worker to finish; until then it keeps its place.
        """
        return await trio.to_thread.run_sync(
            pictures_of, data_url, limiter=self._limiter, abandon_on_cancel=True
        )


async def _open(opening: Opening) -> CapeWorkshop:
    return CapeWorkshop(opening.database)


CAPE_WORKSHOP = Part(name="capes", open=_open)
"""Decodes uploaded textures, counts downloads."""
