"""The listening sockets of all nodes: one for each node on every address, made before the nodes and kept open.

So the ports are never closed: a node that ends leaves its sockets with the connections that wait there, and its
successor takes them over. New connections go only to the sockets of nodes that are ready (`steering.py`).
"""

import errno
import socket
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import structlog

from routes.edge.binds import Bind
from routes.edge.faults import CannotListen
from routes.edge.server.binding import bound
from routes.keeper.steering import steer

BACKLOG = 2048
"""Most connections that wait to be accepted, at each socket."""

log = structlog.get_logger()


class _Group(NamedTuple):
    """The sockets of one address, by node."""

    is_secure: bool
    sockets: tuple[socket.socket, ...]


class Own(NamedTuple):
    """The sockets that a node listens on, as in `PARTYLINE_BIND`.

    Args:
        bind: the cleartext sockets, each as `fd://n`, separated by commas; the last one is the node's own.
        tls_bind: the TLS sockets, in the same form.
        descriptors: the file descriptors of all these sockets.
        port: the port of the node's own socket, on loopback.
    """

    bind: str
    tls_bind: str
    descriptors: tuple[int, ...]
    port: int


class Listeners:
    """The listening sockets of all nodes.

    Args:
        groups: one group of sockets for each address that all nodes have in common.
        own: the socket of each node on which that node alone answers.
    """

    def __init__(self, groups: Sequence[_Group], own: Sequence[socket.socket]) -> None:
        self._groups = groups
        self._own = own
        self._is_steered = True

    @property
    def addresses(self) -> list[str]:
        """The addresses at which clients find the service, as URLs; those with TLS first."""
        return [
            f"{'https' if group.is_secure else 'http'}://{Bind(*group.sockets[0].getsockname()[:2])}"
            for group in sorted(self._groups, key=lambda group: not group.is_secure)
        ]

    def of(self, place: int) -> Own:
        """The sockets of one node, 0 for the first."""
        own = self._own[place]
        secure = [group.sockets[place].fileno() for group in self._groups if group.is_secure]
        plain = [group.sockets[place].fileno() for group in self._groups if not group.is_secure]
        plain.append(own.fileno())
        return Own(_written(plain), _written(secure), (*plain, *secure), own.getsockname()[1])

    def serve(self, places: Collection[int]) -> None:
        """Let new connections go to these nodes alone; or to all if there is none, so that no client is turned away."""
        served = sorted(places) or range(len(self._own))
        try:
            for group in self._groups:
                steer(group.sockets, served)
        except OSError as fault:
            if self._is_steered:
                log.warning("connections_not_steered", why=fault.strerror)
            self._is_steered = False


@contextmanager
def open_listeners(
    bind: Sequence[Bind], tls_bind: Sequence[Bind], *, nodes: int, node_port: int | None
) -> Iterator[Listeners]:
    """Listen on all addresses, as often as there are nodes, until the end of the block.

    Args:
        bind: the cleartext addresses; port 0 takes a free one.
        tls_bind: the addresses with TLS.
        nodes: how many nodes there are.
        node_port: the port on loopback at which the first node answers alone, and the others at the ports after it;
            None for any ports.

    Raises:
        CannotListen: an address is in use, not local, or not permitted.
    """
    with ExitStack() as stack:
        groups = [
            _Group(is_secure, _listen(stack, one, nodes, (*tls_bind, *bind)))
            for is_secure, binds in ((True, tls_bind), (False, bind))
            for one in binds
        ]
        ports = [0] * nodes if node_port is None else range(node_port, node_port + nodes)
        own = [_listen(stack, Bind("127.0.0.1", port), 1)[0] for port in ports]
        yield Listeners(groups, own)


def _listen(
    stack: ExitStack, bind: Bind, count: int, beside: Collection[Bind] = ()
) -> tuple[socket.socket, ...]:
    sockets: list[socket.socket] = []
    try:
        # First bound alone, to fail if another service has the port, even one that would share it.
        with bound(bind, beside) as alone:
            where = Bind(*alone.getsockname()[:2])
        for _ in range(count):
            sockets.append(stack.enter_context(bound(where, beside, is_shared=True)))
            sockets[-1].listen(BACKLOG)
    except OSError as fault:
        reason = "in use" if fault.errno == errno.EADDRINUSE else fault.strerror or str(fault)
        raise CannotListen(f"cannot listen on {bind}: {reason}") from fault
    return tuple(sockets)


def _written(descriptors: Sequence[int]) -> str:
    return ",".join(f"fd://{number}" for number in descriptors)
