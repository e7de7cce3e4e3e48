"""The parts of releases: what memory holds of them, what is counted, and the key that signs answers."""

from actors.versions.answers import Answers, Folders
from actors.versions.catalog import Catalog
from actors.versions.signing import ReleaseKey
from actors.versions.tally import Tally
from routes.part import Opening, Part

_PURPOSE = "signatures of releases"  # the seed of the key is derived from it


async def _open_catalog(opening: Opening) -> Catalog:
    catalog = Catalog(opening.database)
    await catalog.open()
    return catalog


async def _open_key(opening: Opening) -> ReleaseKey:
    return ReleaseKey(opening.keys.derive(_PURPOSE))


async def _open_tally(_opening: Opening) -> Tally:
    return Tally()


async def _open_answers(_opening: Opening) -> Answers:
    return Answers()


async def _open_folders(_opening: Opening) -> Folders:
    return Folders()


RELEASES = Part(name="releases", open=_open_catalog)
"""Scopes, their channels and active releases, in memory."""

RELEASE_KEY = Part(name="key of releases", open=_open_key)
"""Signs what clients are offered."""

ANSWERS = Part(name="answers about releases", open=_open_answers)
"""Signed answers that are asked for again and again."""

FOLDERS = Part(name="folders of feeds", open=_open_folders)
"""The files that the feeds of each scope name."""

TALLY = Part(name="events of releases", open=_open_tally)
"""What clients have said and was not written yet."""
