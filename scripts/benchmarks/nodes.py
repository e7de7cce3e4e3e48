"""Several nodes that serve as one: where each alone answers, and when each has its share."""

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
"""Of an even one; what each node owns is decided by its name, and not quite the same."""

_SHARDS = re.compile(r"^partyline_node_shards (\d+)", re.MULTILINE)


class NotShared(Exception):
    """Not every node has its share; the message says what each has."""


def ports_in_a_row(count: int) -> range:
    """TCP ports of 127.0.0.1, one above the other, that nobody listens on at this moment.

    Args:
        count: at least 1.

    Raises:
        NotShared: none were found.
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
        ports: where each alone answers; none for a server alone, which is not waited for.

    Raises:
        NotShared: two minutes have passed. Cancellation ends the wait, once what is asked has answered.
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
    """How many shards the node that answers there owns; 0 when it does not answer."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=2) as response:
            found = _SHARDS.search(response.read().decode())
    except (URLError, OSError):
        return 0
    return 0 if found is None else int(found[1])
