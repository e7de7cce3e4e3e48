"""`partyline accept-keys`: makes the database use the keys in the shared folder, after its own keys were lost."""

from persistence.nodes import members
from persistence.nodes.sealed_with import change_master, read_master
from routes.cli.database import database_of
from routes.cli.faults import CommandFault
from routes.config.config import Config
from routes.edge.identity.keys import open_keys

LOST = (
    "where signing.pem is another one, all tokens have ended;",
    "where releases.key is another one, launchers refuse what they are offered until they know it;",
    "secret values in settings of game servers, tokens of DNS providers and webhooks of Discord: give them again;",
    "voice nodes: register them again.",
)
"""Lines that say what cannot be read any more without the former keys."""


async def accept_keys(config: Config) -> tuple[str, ...]:
    """Store that the keys in the shared folder are the database's, after making them if there are none; returns the
    lines to print.

    Args:
        config: the configuration of the installation, which does not run.

    Raises:
        CommandFault: the service is running with the former keys.
        KeyFault: the keys cannot be made or read.
        DatabaseUnavailable: the database cannot be reached. Cancellation may leave keys that are made and not accepted.
    """
    folder = config.shared_dir / "keys"
    async with database_of(config) as database:
        view = await database.read(members.read)
        if running := sorted(name for name, one in view.members.items() if not one.is_over):
            raise CommandFault(f"the service runs ({', '.join(running)}): stop it first")
        keys = open_keys(config.shared_dir)
        if await database.read(read_master) == keys.master_name:
            return (f"the database is used with the keys in {folder} already",)
        await database.transact(change_master, keys.master_name)
    return (f"the database is used with the keys in {folder} from now on:", *LOST)
