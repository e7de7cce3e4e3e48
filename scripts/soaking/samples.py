"""Memory, descriptors and sizes of the server and its database while they are soaked."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from persistence.connection import Connection
from scripts.load import server_process

OUTLASTED = 0.25
"""The first part of a process's life that is not judged, 0 to 1: it warms up then."""

LEAST_SECONDS = 600.0
"""A shorter life of a process is not judged."""

_TABLES = """
SELECT relname, pg_total_relation_size(oid) FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""

_DOMAINS = {
    **dict.fromkeys(
        (
            "archived",
            "attachments",
            "conversation",
            "conversations",
            "mentions",
            "message",
            "messages",
            "poll",
        ),
        "chat",
    ),
    **dict.fromkeys(("blocks", "friend", "veils"), "friends"),
    **dict.fromkeys(("parties", "party"), "party"),
    **dict.fromkeys(("notification", "notifications"), "notifications"),
    **dict.fromkeys(("connect", "members", "server", "network", "networks"), "connect"),
    **dict.fromkeys(("publication", "publications", "games"), "publications"),
    **dict.fromkeys(("events", "heads", "leases", "snapshots", "receipts", "nodes"), "journal"),
    **dict.fromkeys(("permissions", "user", "users", "minecraft", "profile"), "users"),
    **dict.fromkeys(("daily", "experience", "flame", "quest"), "quests"),
}
"""{first word of a table's name: domain}; of the other tables the word is the domain."""


class Sample(NamedTuple):
    """One look at the server's and the database's processes.

    Args:
        at_seconds: when it was taken, in seconds since the beginning.
        pid: the server's process id.
        server_bytes: the server's resident memory.
        descriptors, threads: how many file descriptors and threads the server has.
        database_bytes: memory of PostgreSQL's processes; what they share counts once.
    """

    at_seconds: float
    pid: int
    server_bytes: int
    descriptors: int
    threads: int
    database_bytes: int


def look(pid: int, at_seconds: float) -> Sample | None:
    """Take a sample; None where the server has ended meanwhile.

    Args:
        pid: the server's process id.
        at_seconds: the present moment, in seconds since the beginning.
    """
    proc = Path(f"/proc/{pid}")
    try:
        descriptors, threads = len(list((proc / "fd").iterdir())), len(list((proc / "task").iterdir()))
    except OSError:
        return None
    server_bytes = server_process.memory_bytes(pid)
    if not server_bytes:
        return None
    shared = sum(_proportional_bytes(one) for one in server_process.databases(pid))
    return Sample(at_seconds, pid, server_bytes, descriptors, threads, shared)


def _proportional_bytes(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class Slope(NamedTuple):
    """How a field of the samples grows.

    Args:
        per_hour: the median of the slopes between all pairs of samples, so that single peaks do not count.
        seconds: how long a time was judged; 0 where it was too short.
    """

    per_hour: float
    seconds: float


def slope(samples: Sequence[Sample], field: str, least_seconds: float = LEAST_SECONDS) -> Slope:
    """How a field grows over the life of the last server process, without the first quarter of it.

    Args:
        samples: all samples, in order.
        field: the name of a field of `Sample`.
        least_seconds: a shorter life of the process is not judged.
    """
    if not samples:
        return Slope(0.0, 0.0)
    life = [one for one in samples if one.pid == samples[-1].pid]
    begin = life[0].at_seconds + OUTLASTED * (life[-1].at_seconds - life[0].at_seconds)
    judged = [(one.at_seconds, float(getattr(one, field))) for one in life if one.at_seconds >= begin]
    seconds = judged[-1][0] - judged[0][0]
    if seconds < least_seconds or len(judged) < 3:
        return Slope(0.0, 0.0)
    slopes = sorted(
        (after - before) / (later - sooner) * 3600
        for at, (sooner, before) in enumerate(judged)
        for later, after in judged[at + 1 :]
        if later > sooner
    )
    return Slope(slopes[len(slopes) // 2], seconds)


class Held(NamedTuple):
    """What the database holds of one domain.

    Args:
        rows: how many rows all its tables have.
        size_bytes: the size of its tables, with their indexes.
    """

    rows: int
    size_bytes: int


async def held(conn: Connection) -> dict[str, Held]:
    """What the database holds, by domain."""
    found: dict[str, Held] = defaultdict(lambda: Held(0, 0))
    for table, size in await conn.fetch(_TABLES):
        # No injection: the name comes from the catalog of our own database.
        rows = await conn.fetchval(f'SELECT count(*) FROM "{table}"')  # noqa: S608
        word = str(table).split("_", 1)[0]
        domain = _DOMAINS.get(word, word)
        found[domain] = Held(found[domain].rows + rows, found[domain].size_bytes + size)
    return dict(found)
