"""Whether database and shared folder belong together: the folder has the keys, and the files to which rows refer.

New keys would be accepted in silence: the service would start, all tokens would end, and sealed secrets could not be
read any more. So if the shared folder is not mounted, no keys are made for a database that was used before, and other
keys than its own are refused. Nor is an empty database used with a folder that has files, as when the database's
address is wrong: none of its rows refers to the files, so they would be swept.
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
    """Open the keys that belong to a database, and make them for a new database.

    Cancellation leaves keys that were made, and the next start uses them.

    Args:
        database: the database, migrated unless a server of an earlier version is running on it.
        shared_dir: `PARTYLINE_SHARED_DIR`.

    Raises:
        KeyFault: the keys are gone, or not those of the database; the folder belongs to another database; or as from
            `open_keys`.
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
    """Why the next start would refuse the keys; None if it would not. Changes nothing.

    Args:
        database: the database, migrated or not.
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
