"""Several nodes that serve as one: the port at which each alone answers, and when each has its share of the shards."""

import re
import socket
from contextlib import ExitStack
from urllib.error import URLError
from urllib.request import urlopen

import trio

SHARED_SECONDS = 120.0
_POLL_SECONDS = 0.5
_TRIES = 100
_SHARE = 0.9
"""Which part of an even share is enough: shards are spread by the names of nodes, and so not quite evenly."""

_SHARDS = re.compile(r"^partyline_node_shards (\d+)", re.MULTILINE)


class NotShared(Exception):
    """Not every node has got its share; the message says what each has."""


def ports_in_a_row(count: int) -> range:
    """TCP ports of 127.0.0.1, one above the other, that nobody listens on at this moment.

    Args:
        count: how many ports, at least 1.

    Raises:
        NotShared: no such ports were found.
    """
    for _ in range(_TRIES):
        with ExitStack() as stack:
            try:
                first = _bound(stack, 0)
                for port in range(first + 1, first + count):
                    _bound(stack, port)
            except (OSError, OverflowError):
                continue
            return range(first, first + count)
    raise NotShared("no free ports in a row")


def _bound(stack: ExitStack, port: int) -> int:
    sock = stack.enter_context(socket.socket())
    sock.bind(("127.0.0.1", port))
    return int(sock.getsockname()[1])


async def wait_shared(ports: range) -> None:
    """Wait until every node owns about as much as each other.

    Args:
        ports: the port of each node; empty for a server alone, for which there is nothing to wait for.

    Raises:
        NotShared: two minutes have passed. Cancellation ends the wait once the present request has ended.
    """
    owned: list[int] = []
    with trio.move_on_after(SHARED_SECONDS):
        while True:
            owned = [await trio.to_thread.run_sync(_shards, port) for port in ports]
            if all(owned) and all(one >= _SHARE * sum(owned) / len(owned) for one in owned):
                return
            await trio.sleep(_POLL_SECONDS)
    raise NotShared(f"the nodes own {owned} shards")


def _shards(port: int) -> int:
    """How many shards the node at this port owns; 0 when it does not answer."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=2) as response:
            found = _SHARDS.search(response.read().decode())
    except (URLError, OSError):
        return 0
    return 0 if found is None else int(found[1])
