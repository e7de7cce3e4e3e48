"""`partyline upgrade-database`: moves the embedded database to the newest PostgreSQL that is found."""

from pathlib import Path

from persistence.embedded.data_dir import hold_data_dir
from persistence.embedded.upgrade import upgrade
from routes.cli.faults import CommandFault
from routes.config.config import Config


async def upgrade_database(config: Config, old_bin: Path | None) -> str:
    """Upgrade the embedded database; returns the line to print. No server may be running.

    Args:
        config: the configuration, which names the data folder, and perhaps the folder of the new PostgreSQL's programs.
        old_bin: the folder of the old PostgreSQL's programs; None looks into the wheel, then the system.

    Raises:
        CommandFault: the database is not embedded.
        ClusterInUse, ClusterFaulty, NoPostgres, BackupFault: nothing has changed.
    """
    if config.database_url is not None:
        raise CommandFault("PARTYLINE_DATABASE_URL is set: upgrade that PostgreSQL by its own means")
    with hold_data_dir(config.data_dir):
        done = await upgrade(config.data_dir, pg_bin=config.pg_bin, old_bin=old_bin)
    if done.left is None:
        return f"the database is of PostgreSQL {done.major}, and no newer one was found"
    return f"moved from PostgreSQL {done.former} to {done.major}; remove {done.left} when all is well"
