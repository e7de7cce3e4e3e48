"""The parts of releases: their memory, the counts of events, and the key that signs answers."""

import structlog
import trio

from actors.ids import new_object_id
from actors.versions.answers import Answers, Folders
from actors.versions.catalog import Catalog
from actors.versions.signing import ReleaseKey
from actors.versions.tally import Tally
from persistence.errors import PersistenceError
from persistence.versions.counts import add_counts
from routes.part import Opening, Part

log = structlog.get_logger()

_PURPOSE = "signatures of releases"  # the seed is derived from it where the keys are of before it had a file


async def _open_catalog(opening: Opening) -> Catalog:
    catalog = Catalog(opening.database)
    await catalog.open()
    return catalog


async def _open_key(opening: Opening) -> ReleaseKey:
    keys = opening.keys
    return ReleaseKey(keys.derive(_PURPOSE) if keys.releases is None else keys.releases)


async def _open_tally(opening: Opening) -> Tally:
    tally = Tally()
    opening.stack.push_async_callback(_write_rest, opening, tally)
    return tally


async def _write_rest(opening: Opening, tally: Tally) -> None:
    """Write the counts that the job has not written; waits for the database no longer than any request."""
    with trio.CancelScope(shield=True):
        while (batch := tally.batch(new_object_id(opening.clock.now_ms(), opening.random_bytes))) is not None:
            try:
                await opening.database.transact(add_counts, batch, opening.clock.now_ms())
            except PersistenceError as error:
                log.warning(
                    "the last counts of releases were not written",
                    counts=len(batch.counts),
                    error=repr(error),
                )
                return
            tally.written()


async def _open_answers(_opening: Opening) -> Answers:
    return Answers()


async def _open_folders(_opening: Opening) -> Folders:
    return Folders()


RELEASES = Part(name="releases", open=_open_catalog)
"""Scopes, their channels and active releases, in memory."""

RELEASE_KEY = Part(name="key of releases", open=_open_key)
"""The key that signs what clients are offered."""

ANSWERS = Part(name="answers about releases", open=_open_answers)
"""A cache of signed answers that are asked for again and again."""

FOLDERS = Part(name="folders of feeds", open=_open_folders)
"""The files that the feeds of each scope name."""

TALLY = Part(name="events of releases", open=_open_tally)
"""Counts of what clients have reported that were not written yet."""
