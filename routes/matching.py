"""Whether the database and the shared folder belong together: its keys, and the files to which rows refer.

New keys in their place would say nothing: the service would start, all tokens would end, and what is sealed could not
be read any more. So none is made for a database that was served from before, as where the shared folder is not mounted,
and others than those are refused. Nor is a new database taken for a folder with files, as where the address of the
database is wrong: none of its rows refers to them, so they would be swept.
"""

from pathlib import Path

import structlog
import trio

from persistence.backup.writing import STORES
from persistence.bridge.database import Database
from persistence.nodes.sealed_with import note_master, read_master, was_served
from routes.edge.identity.key_files import close_to_others
from routes.edge.identity.keys import KeyFault, Keys, has_master, open_keys

log = structlog.get_logger()

CURE = (
    "mount the folder (PARTYLINE_SHARED_DIR), or put its keys back from a backup;"
    " to go on without them: partyline accept-keys"
)


STRANGE = (
    "has files of attachments or releases, and the database is new: they would be removed."
    " See PARTYLINE_DATABASE_URL and PARTYLINE_DATA_DIR; to begin anew with this folder: partyline accept-keys"
)


async def keys_of(database: Database, shared_dir: Path) -> Keys:
    """Open the keys that belong to a database, and make them where it is new.

    Cancellation leaves what was made, and the next start takes it.

    Args:
        database: migrated, unless it belongs to a running server of an earlier version.
        shared_dir: `PARTYLINE_SHARED_DIR`.

    Raises:
        KeyFault: they are gone, they are others than the database is used with, the folder is that of another database,
            or as from `open_keys`.
        DatabaseUnavailable: the database does not answer.
    """
    if not await _was_used(database):
        if await trio.to_thread.run_sync(_has_files, shared_dir):
            raise KeyFault(f"{shared_dir} {STRANGE}")
    elif not await trio.to_thread.run_sync(has_master, shared_dir):
        raise KeyFault(f"{shared_dir / 'keys'} has no master key, and the database was used with one: {CURE}")
    keys = await trio.to_thread.run_sync(_open_closed, shared_dir)
    if await database.transact(note_master, keys.master_name) != keys.master_name:
        raise KeyFault(f"{shared_dir / 'keys'} has other keys than the database is used with: {CURE}")
    return keys


async def mismatch(database: Database, shared_dir: Path) -> str | None:
    """Why the next start would be refused for its keys; None where it would not. Changes nothing.

    Args:
        database: as for `keys_of`, or not migrated.
        shared_dir: `PARTYLINE_SHARED_DIR`.

    Raises:
        KeyFault: as from `open_keys`.
        DatabaseUnavailable: the database does not answer.
    """
    if not await trio.to_thread.run_sync(has_master, shared_dir):
        return "gone, and the database was used with some" if await _was_used(database) else None
    noted = await database.read(read_master)
    keys = await trio.to_thread.run_sync(open_keys, shared_dir)
    return None if noted in (None, keys.master_name) else "others than the database is used with"


async def _was_used(database: Database) -> bool:
    return await database.read(read_master) is not None or await database.read(was_served)


def _has_files(shared_dir: Path) -> bool:
    return any(True for name in STORES for _ in (shared_dir / name).glob("??/*"))


def _open_closed(shared_dir: Path) -> Keys:
    for path in close_to_others(shared_dir):
        log.warning(f"{path} could be read by others; it is closed to them now")
    return open_keys(shared_dir)
