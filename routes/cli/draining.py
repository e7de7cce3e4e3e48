"""`partyline nodes drain` and `resume`: have a node give away its shards, and let it own shards again."""

from collections.abc import Callable

import trio

from persistence.bridge.database import Database
from persistence.nodes import members
from routes.cli.database import database_of
from routes.cli.faults import CommandFault
from routes.config.config import Config

PATIENCE_SECONDS = 60.0
"""How long `drain` waits until the node owns no shards any more."""

LOOK_SECONDS = 0.5


async def drain(config: Config, node: str, say: Callable[[str], None]) -> None:
    """Drain a node, and wait until it owns no shards. Cancellation leaves it drained.

    Args:
        node: the node's name.
        say: prints a line.

    Raises:
        CommandFault: no such node lives, or it is the last one; or it still owns shards after `PATIENCE_SECONDS`.
        DatabaseUnavailable: the database cannot be reached.
    """
    async with database_of(config) as database:
        why = await database.transact(members.drain, node)
        if why is not None:
            raise CommandFault(f"{node}: {why.value}")
        owned = await _owned(database, node)
        say(f"{node} owns {owned} shards, which go to the others")
        give_up_at = trio.current_time() + PATIENCE_SECONDS
        while owned := await _owned(database, node):
            if trio.current_time() >= give_up_at:
                raise CommandFault(f"{node} still owns {owned} shards; see its log")
            await trio.sleep(LOOK_SECONDS)
        say(f"{node} owns nothing; stop it, or: partyline nodes resume {node}")


async def resume(config: Config, node: str) -> str:
    """Let a node that was drained own shards again; returns the line to print.

    Args:
        node: the node's name.

    Raises:
        CommandFault: no such node lives.
        DatabaseUnavailable: the database cannot be reached. Cancellation may leave the node resumed.
    """
    async with database_of(config) as database:
        why = await database.transact(members.resume, node)
    if why is not None:
        raise CommandFault(f"{node}: {why.value}")
    return f"{node} takes its share again"


async def _owned(database: Database, node: str) -> int:
    view = await database.read(members.read)
    return sum(lease.node == node for lease in view.leases.values())
