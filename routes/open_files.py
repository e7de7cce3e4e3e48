"""How many files the process may have open, held against how many connections it is to take."""

import resource

SPARE = 512
"""Files beside connections: the database's, listening sockets, attachments that are read and written."""


def wanted_limit(max_connections: int, soft: int, hard: int) -> int:
    """The soft limit to set.

    Args:
        max_connections: `PARTYLINE_MAX_CONNECTIONS`.
        soft, hard: as they are, `resource.RLIM_INFINITY` for none.
    """
    needed = max_connections + SPARE
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return soft
    return needed if hard == resource.RLIM_INFINITY else min(needed, hard)


def affordable(max_connections: int, limit: int) -> int:
    """How many connections a limit leaves room for, at least 1.

    Args:
        max_connections: as many as are wanted.
        limit: of open files, `resource.RLIM_INFINITY` for none.
    """
    if limit == resource.RLIM_INFINITY:
        return max_connections
    return max(1, min(max_connections, limit - SPARE))


def make_room(max_connections: int) -> int:
    """Raise this process's limit to what so many connections need; returns how many it has room for.

    Args:
        max_connections: as many as are wanted.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = wanted_limit(max_connections, soft, hard)
    if limit != soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return affordable(max_connections, limit)
