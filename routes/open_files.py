"""Raises the process's limit of open files to what the configured number of connections needs."""

import resource

SPARE = 512
"""Open files needed beside connections: for the database, listening sockets, and attachments read and written."""


def wanted_limit(max_connections: int, soft: int, hard: int) -> int:
    """The soft limit of open files to set.

    Args:
        max_connections: value of `PARTYLINE_MAX_CONNECTIONS`.
        soft, hard: the current limits, `resource.RLIM_INFINITY` for none.
    """
    needed = max_connections + SPARE
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return soft
    return needed if hard == resource.RLIM_INFINITY else min(needed, hard)


def affordable(max_connections: int, limit: int) -> int:
    """How many connections a limit of open files allows, 1 to `max_connections`.

    Args:
        max_connections: how many are wanted.
        limit: the limit of open files, `resource.RLIM_INFINITY` for none.
    """
    if limit == resource.RLIM_INFINITY:
        return max_connections
    return max(1, min(max_connections, limit - SPARE))


def make_room(max_connections: int) -> int:
    """Raise this process's limit as far as needed and allowed; returns how many connections it allows then.

    Args:
        max_connections: how many are wanted.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = wanted_limit(max_connections, soft, hard)
    if limit != soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return affordable(max_connections, limit)
