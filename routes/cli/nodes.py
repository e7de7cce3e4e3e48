"""`partyline nodes`: the nodes of the service, one line each, from their rows."""

import time
from collections.abc import Iterator

from persistence.nodes import members
from persistence.nodes.members import View
from routes.cli.database import database_of
from routes.config.config import Config
from routes.operations.nodes import nodes_of

_HEADINGS = ("node", "life", "state", "release", "for", "shards", "sockets", "lag", "hears")


async def list_nodes(config: Config) -> Iterator[str]:
    """The lines of the table of nodes, the headings first, as rows say at this moment.

    Raises:
        DatabaseUnavailable: the database cannot be reached. Cancellation closes the connection to it.
    """
    async with database_of(config) as database:
        view = await database.read(members.read)
    return lines_of(view, now_ms=int(time.time() * 1000))


def lines_of(view: View, *, now_ms: int) -> Iterator[str]:
    """The lines of the table of nodes, the headings first.

    Args:
        view: all nodes and leases.
        now_ms: epoch milliseconds.
    """
    rows = [_HEADINGS]
    for node in nodes_of(view):
        state = "silent" if node.silent else "drained" if node.drained else node.state
        age = _age((now_ms - node.since_ms) // 1000) if node.since_ms else ""
        rows.append(
            (
                node.name,
                str(node.life),
                state,
                node.release,
                age,
                str(node.shards),
                str(node.sockets),
                f"{node.lag_bytes} B",
                " ".join(node.hears),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _age(seconds: int) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{max(0, seconds)} s"
