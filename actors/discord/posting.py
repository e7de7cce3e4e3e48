"""Note what is to be posted, in the transaction of its cause; and which game servers are online."""

from collections.abc import Sequence
from typing import NamedTuple

from persistence.connection import Connection
from persistence.discord import outbox, servers
from persistence.discord.rows import DiscordEvent, Subject

QUEUE_MAX = 100
"""Most posts of one network that wait. Beyond it the oldest are dropped, except one whose row the sender is writing."""


class Turned(NamedTuple):
    """A game server that has been online, or offline, for long enough to be told of."""

    server_id: str
    online: bool


async def post(conn: Connection, event: DiscordEvent, about: Subject, now_ms: int) -> None:
    """Have something posted to a network's webhook, if it has one and wants this event.

    It waits for nobody but one who closes the queue, so it may be called wherever its cause is committed.

    Args:
        event: the kind of event, which the network's settings may exclude.
        about: names the network, and what the post tells of.
        now_ms: epoch milliseconds.
    """
    network_id = await outbox.add(conn, event, about, now_ms=now_ms)
    if network_id is not None:
        await outbox.drop_oldest(conn, network_id, keep=QUEUE_MAX)


async def tell(conn: Connection, turned: Sequence[Turned], now_ms: int) -> None:
    """Note which servers have come or gone, with their posts; a unit of work for one transaction.

    It may be repeated after an unknown outcome: what is noted already is not posted again.

    Args:
        turned: the servers, each with whether it is online now.
        now_ms: epoch milliseconds.
    """
    came = await servers.note_online(conn, sorted(one.server_id for one in turned if one.online))
    left = await servers.note_offline(conn, sorted(one.server_id for one in turned if not one.online))
    told = await outbox.add_of_servers(conn, "server_online", came, now_ms=now_ms)
    told |= await outbox.add_of_servers(conn, "server_offline", left, now_ms=now_ms)
    for network_id in sorted(told):
        await outbox.drop_oldest(conn, network_id, keep=QUEUE_MAX)
