"""The part of capes: decodes uploaded textures in worker threads, and counts downloads."""

from functools import partial

from actors.capes.downloads import Downloads
from actors.capes.images import pictures_of
from persistence.bridge.database import Database
from persistence.capes.rows import Pictures
from routes.part import Opening, Part
from routes.workers import Workers

DECODED_AT_ONCE = 2
"""Most uploads decoded at the same time; others wait, at most until the deadline of their request."""


class CapeWorkshop:
    """Decodes uploads, at most `DECODED_AT_ONCE` at a time, and counts downloads.

    Args:
        database: where the counts of downloads are written.
    """

    def __init__(self, database: Database) -> None:
        self.downloads = Downloads(database)
        self._workers = Workers(DECODED_AT_ONCE)

    async def pictures(self, user_id: str, data_url: str) -> Pictures:
        """Decode an upload in a worker thread: its texture and preview.

        Args:
            user_id: who uploads it.
            data_url: `data:image/png;base64,…`, as the client sent it.

        Raises:
            TooLarge: more than 512 KiB, decoded.
            Invalid: not a valid PNG of 64x32 or 64x64, see `pictures_of`.

        Cancellation: the worker runs to its end and occupies its slot until then; its result is dropped.
        """
        return await self._workers.run(user_id, partial(pictures_of, data_url), abandon=True)


async def _open(opening: Opening) -> CapeWorkshop:
    return CapeWorkshop(opening.database)


CAPE_WORKSHOP = Part(name="capes", open=_open)
"""Decodes uploaded textures, counts downloads."""
