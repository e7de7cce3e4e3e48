"""One port, several sockets: who gets the next connection, and what cannot be listened on."""

import socket
from collections.abc import Sequence
from itertools import chain

import pytest

from routes.edge.binds import Bind
from routes.edge.faults import CannotListen
from routes.keeper.listeners import Listeners, open_listeners
from tests.support.process import free_port

LOOPBACK = Bind("127.0.0.1", 0)
CONNECTIONS = 60


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


def _accepted(listeners: Listeners, nodes: int) -> list[int]:
    """How many connections wait at each node's socket, taken off there."""
    counts = []
    for place in range(nodes):
        with socket.socket(fileno=socket.dup(listeners.of(place).descriptors[0])) as listening:
            listening.setblocking(False)
            counts.append(0)
            while True:
                try:
                    listening.accept()[0].close()
                except BlockingIOError:
                    break
                counts[-1] += 1
    return counts


@pytest.mark.parametrize(
    ("served", "some"),
    [([0], {0}), ([2], {2}), ([0, 1], {0, 1}), ([2, 1], {1, 2}), ([], {0, 1, 2}), ([0, 1, 2], {0, 1, 2})],
)
def test_new_connections_go_to_nodes_that_are_served(served: Sequence[int], some: set[int]) -> None:
    with open_listeners([LOOPBACK], [], nodes=3, node_port=None) as listeners:
        port = _port(listeners.addresses[0])
        for places in (range(3), [1], served):  # the last one counts
            listeners.serve(places)
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
        counts = _accepted(listeners, 3)
        for client in clients:
            client.close()
    assert sum(counts) == CONNECTIONS
    # A fair coin says the same sixty times in a row once in 10 ** 18.
    assert {place for place, count in enumerate(counts) if count} == some


def test_each_node_has_a_socket_on_every_address_and_one_of_its_own() -> None:
    with open_listeners([LOOPBACK], [LOOPBACK], nodes=2, node_port=None) as listeners:
        own = [listeners.of(place) for place in range(2)]
        assert [address.split(":")[0] for address in listeners.addresses] == ["https", "http"]
    descriptors = list(chain.from_iterable(one.descriptors for one in own))
    assert len(set(descriptors)) == len(descriptors) == 6
    for one in own:
        shared, alone, secure = one.descriptors
        assert (one.bind, one.tls_bind) == (f"fd://{shared},fd://{alone}", f"fd://{secure}")
    assert own[0].port != own[1].port


def test_a_port_of_another_service_is_in_use_even_if_it_would_share_it() -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with (
            pytest.raises(CannotListen, match=f"^cannot listen on 127.0.0.1:{port}: in use$"),
            open_listeners([Bind("127.0.0.1", port)], [], nodes=2, node_port=None),
        ):
            pass
        with (
            pytest.raises(CannotListen, match=f"^cannot listen on 127.0.0.1:{port}: in use$"),
            open_listeners([LOOPBACK], [], nodes=1, node_port=port),
        ):
            pass
    with pytest.raises(CannotListen), open_listeners([Bind("192.0.2.1", 1)], [], nodes=2, node_port=None):
        pass


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="there is no IPv6 here")
def test_both_families_on_one_port() -> None:
    port = free_port()
    both = [Bind("127.0.0.1", port), Bind("::", port)]
    with open_listeners(both, [], nodes=2, node_port=None):
        for host in ("127.0.0.1", "::1"):
            socket.create_connection((host, port), timeout=5).close()


def test_what_waits_at_a_socket_is_there_for_who_comes_next() -> None:
    """A node that ends closes its copy; the keeper's keeps the queue."""
    with open_listeners([LOOPBACK], [], nodes=2, node_port=None) as listeners:
        listeners.serve([1])
        descriptor = listeners.of(1).descriptors[0]
        socket.socket(fileno=socket.dup(descriptor)).close()
        with socket.create_connection(("127.0.0.1", _port(listeners.addresses[0]))) as client:
            client.sendall(b"hello")
            assert _accepted(listeners, 2) == [0, 1]
