"""Where a gateway connects to, and where it never does, whatever a route or DNS says."""

import socket

import pytest
import trio

from routes.edge.address import parse_networks
from scripts.gateway_node.addresses import PRIVATE, Permission
from scripts.gateway_node.backends import ANSWER_SECONDS, KEPT_SECONDS, MISSED_SECONDS, OLD_SECONDS, Names
from scripts.gateway_node.proxy_protocol import read_header, write_header
from scripts.gateway_node.routes import Route, Routes
from tests.gateway_node.bytes_of import handshake
from tests.gateway_node.minecraft import minecraft, status
from tests.gateway_node.play import LOBBY, gateway, player, resolved, route
from tests.support.waiting import PATIENCE_SECONDS

STRICT, HOME = Permission(), Permission(allowed=PRIVATE)
CUT = Permission(
    allowed=parse_networks(("10.0.0.0/8",)), refused=parse_networks(("10.9.0.0/16", "203.0.113.0/24"))
)

ADDRESSES = {
    "93.184.215.14": (None, None, None),
    "2606:2800:21f:cb07:6820:80da:af6b:8b2c": (None, None, None),
    "10.0.0.5": ("private", None, None),
    "10.9.0.5": ("private", None, "refused"),
    "172.16.0.1": ("private", None, "private"),
    "192.168.1.5": ("private", None, "private"),
    "100.64.0.1": ("private", None, "private"),
    "127.0.0.1": ("private", None, "private"),
    "127.9.9.9": ("private", None, "private"),
    "::1": ("private", None, "private"),
    "fd12::1": ("private", None, "private"),
    "169.254.169.254": ("forbidden",) * 3,
    "169.254.0.1": ("forbidden",) * 3,
    "fe80::1": ("forbidden",) * 3,
    "fd00:ec2::254": ("forbidden",) * 3,
    "100.100.100.200": ("forbidden",) * 3,
    "168.63.129.16": ("forbidden",) * 3,
    "192.0.0.192": ("forbidden",) * 3,
    "0.0.0.0": ("forbidden",) * 3,
    "::": ("forbidden",) * 3,
    "::ffff:127.0.0.1": ("forbidden",) * 3,
    "::ffff:93.184.215.14": ("forbidden",) * 3,
    "224.0.0.1": ("forbidden",) * 3,
    "ff02::1": ("forbidden",) * 3,
    "255.255.255.255": ("forbidden",) * 3,
    "64:ff9b::7f00:1": ("private",) * 3,
    "2002:7f00:1::": ("private",) * 3,
    "2001:0:7f00:1::": ("private",) * 3,
    "203.0.113.5": ("private", "private", "refused"),
}


@pytest.mark.parametrize(("address", "refusals"), ADDRESSES.items())
def test_backends_are_permitted_by_their_address(address: str, refusals: tuple[str | None, ...]):
    assert tuple(permission.refusal(address, 25_565) for permission in (STRICT, HOME, CUT)) == refusals


def test_the_gateway_itself_is_no_backend():
    own = Permission(allowed=PRIVATE, own=frozenset({("127.0.0.1", 25_565)}))
    assert own.refusal("127.0.0.1", 25_565) == "the gateway itself"
    assert own.refusal("127.0.0.1", 25_566) is None
    anywhere = Permission(allowed=PRIVATE, port=25_565)
    assert anywhere.refusal("127.0.0.1", 25_565) == anywhere.refusal("::1", 25_565) == "the gateway itself"
    assert (anywhere.refusal("10.255.255.254", 25_565), anywhere.refusal("127.0.0.1", 1)) == (None, None)


async def test_backends_that_are_refused_are_not_connected_to():
    """Each behind a name, which is looked up and then judged."""
    names = resolved(
        {
            "inside.example.org": ["127.0.0.1"],
            "metadata.example.org": ["169.254.169.254", "::ffff:127.0.0.1"],
            "own.example.org": ["127.0.0.1"],
        }
    )
    async with minecraft() as server:
        async with gateway(permission=STRICT, names=names) as running:
            running.carrying.routes = _routes(
                route("a.example.org", server),
                route("b.example.org", server, "inside.example.org"),
                route("c.example.org", server, "metadata.example.org"),
                route("d.example.org", server, "nowhere.example.org"),
            )
            for host in ("a.example.org", "b.example.org", "c.example.org", "d.example.org", "a.example.org"):
                async with player(running.port, handshake(host, 2)) as one:
                    assert await one.rest() == b""
            assert running.turned_away() == {"forbidden backend": 4, "unreachable": 1}
            assert [line.partition(",")[0] for line in running.said] == [
                "a.example.org leads to 127.0.0.1 (private)",
                "b.example.org leads to 127.0.0.1 (private)",
                "c.example.org leads to 169.254.169.254 (forbidden)",
                "d.example.org leads to nowhere.example.org",
            ]
        async with gateway(names=names) as running:
            running.carrying.routes = _routes(
                route("a.example.org", running.port, "own.example.org"),
                route(LOBBY, server, "inside.example.org"),
            )
            async with player(running.port, handshake("a.example.org", 2)) as one:
                assert await one.rest() == b""
            assert running.turned_away() == {"forbidden backend": 1}
            await status(LOBBY, running.port)
        assert server.connections == 1


async def test_its_public_address_is_no_backend():
    """As where a router at home, or a load balancer, leads back to the gateway."""
    names = resolved({"gw.example.net": ["127.0.0.2"]})
    async with gateway(names=names, public=("gw.example.net", 25_565)) as running:
        running.carrying.routes = _routes(route(LOBBY, 25_565, "127.0.0.2"))
        async with player(running.port, handshake(LOBBY, 2)) as one:
            assert await one.rest() == b""
        assert running.turned_away() == {"forbidden backend": 1}


async def test_the_next_address_is_tried_and_judged_as_well():
    names = resolved({"many.example.org": ["169.254.169.254", "127.0.0.9", "127.0.0.1"]})
    async with minecraft("Lobby") as server, gateway(names=names) as running:
        running.carrying.routes = _routes(route(LOBBY, server, "many.example.org"), route("x.example.org", 1))
        assert await status(LOBBY, running.port) == "Lobby"
        async with player(running.port, handshake("x.example.org", 2)) as one:
            assert await one.rest() == b""
        assert running.turned_away() == {"unreachable": 1}


async def test_names_are_asked_once_for_all_and_believed_for_a_while(autojump_clock: trio.testing.MockClock):
    asked: list[str] = []
    known = {"a": ["192.0.2.1", "192.0.2.1"]}

    async def resolve(name: str) -> list[str]:
        asked.append(name)
        await trio.sleep(1)
        if name not in known:
            raise OSError("no such name")
        return known[name]

    names = Names(resolve)
    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(names.addresses, "a")
    assert (await names.addresses("a"), await names.addresses("b"), await names.addresses("b")) == (
        ["192.0.2.1"],
        [],
        [],
    )
    assert asked == ["a", "b"]
    assert await names.addresses("192.0.2.9") == ["192.0.2.9"]
    known["b"] = ["192.0.2.2"]
    await trio.sleep(MISSED_SECONDS)
    assert await names.addresses("b") == ["192.0.2.2"]
    await trio.sleep(KEPT_SECONDS)
    await names.addresses("a")
    assert asked == ["a", "b", "b", "a"]


@pytest.mark.parametrize("fault", [socket.gaierror(socket.EAI_AGAIN, "?"), None], ids=["fails", "silent"])
async def test_names_stay_where_dns_says_nothing(
    autojump_clock: trio.testing.MockClock, fault: OSError | None
):
    """Whoever is asked may be silent as long as they like: what was known is good for an hour."""
    asked = 0

    async def resolve(_name: str) -> list[str]:
        nonlocal asked
        asked += 1
        if asked == 1:
            return ["192.0.2.1"]
        if fault is not None:
            raise fault
        await trio.sleep_forever()
        raise AssertionError

    names = Names(resolve)
    assert await names.addresses("a") == ["192.0.2.1"]
    await trio.sleep(KEPT_SECONDS)
    began_at = trio.current_time()
    assert (await names.addresses("a"), await names.addresses("a")) == (["192.0.2.1"], ["192.0.2.1"])
    assert (asked, trio.current_time() - began_at) == (2, 0.0 if fault else ANSWER_SECONDS)
    await trio.sleep(OLD_SECONDS)
    with trio.move_on_after(10):
        assert await names.addresses("a") == []


async def test_a_name_that_has_no_addresses_any_more_is_let_go(autojump_clock: trio.testing.MockClock):
    known = ["192.0.2.1"]

    async def resolve(_name: str) -> list[str]:
        if not known:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [known.pop()]

    names = Names(resolve)
    assert await names.addresses("a") == ["192.0.2.1"]
    await trio.sleep(KEPT_SECONDS)
    assert await names.addresses("a") == []


async def test_lookups_and_everything_else_do_not_wait_for_each_other():
    """The threads of a process are forty otherwise, and each silent name takes one for seconds."""
    everything_else = trio.to_thread.current_default_thread_limiter()
    places = [object() for _ in range(int(everything_else.available_tokens))]
    for place in places:
        everything_else.acquire_on_behalf_of_nowait(place)
    try:
        with trio.fail_after(PATIENCE_SECONDS):
            assert "127.0.0.1" in await Names().addresses("localhost")
    finally:
        for place in places:
            everything_else.release_on_behalf_of(place)


async def test_backends_are_told_where_players_are():
    async with minecraft(proxied=True) as server, minecraft() as plain, gateway() as running:
        running.carrying.routes = _routes(
            route(LOBBY, server, proxied=True), route("plain.example.org", plain)
        )
        async with player(running.port, handshake(LOBBY, 2)) as one:
            ours, gate = one.stream.socket.getsockname(), ("127.0.0.1", running.port)
            assert await one.hear(len(handshake(LOBBY, 2))) == handshake(LOBBY, 2)
        ((sent, header),) = server.headers
        assert sent == write_header(ours, gate, 0)
        assert header.source == ours
        await status("plain.example.org", running.port)


async def test_only_those_who_are_trusted_say_where_players_are():
    claimed = write_header(("203.0.113.7", 4711), ("198.51.100.1", 25_565), 0)
    async with minecraft(proxied=True) as server:
        routes = [route(LOBBY, server, proxied=True)]
        async with gateway(routes) as running, player(running.port, claimed, handshake(LOBBY, 2)) as one:
            assert await one.rest() == b""
            assert running.turned_away() == {"malformed": 1}
        async with gateway(routes, trusted=parse_networks(("127.0.0.0/8",))) as running:
            for header in (claimed, b""):
                async with player(running.port, header, handshake(LOBBY, 2)) as one:
                    await one.hear(1)
                    ours = one.stream.socket.getsockname()
    assert [header.source for _, header in server.headers] == [("203.0.113.7", 4711), ours]
    assert server.headers[0][0][-1:] == b"\x02", "it has come through two gateways"


async def test_what_comes_back_is_a_loop():
    """Through addresses that nobody knew to be its own: by the end of its own connection, and by the count of hops."""
    trusted = parse_networks(("127.0.0.0/8",))
    for proxied in (False, True):
        async with gateway(
            permission=Permission(allowed=PRIVATE), trusted=trusted if proxied else ()
        ) as running:
            running.carrying.routes = _routes(route(LOBBY, running.port, proxied=proxied))
            async with player(running.port, handshake(LOBBY, 2)) as one:
                assert await one.rest() == b""
            await running.until(connections=0)
            assert running.turned_away() == {"loop": 1}
            carried = running.carrying.counters.carried
            assert carried == (4 if proxied else 1)
            assert running.said == [f"{LOBBY} leads back to this gateway"]


def test_the_hops_of_a_header_grow():
    sent, seen = write_header(("203.0.113.7", 1), ("198.51.100.1", 2), 0), []
    for _ in range(5):
        header = read_header(sent)
        assert header is not None
        seen.append(header.hops)
        sent = write_header(("203.0.113.7", 1), ("198.51.100.1", 2), header.hops)
    assert seen == [1, 2, 3, 4, 5]


def _routes(*routes: Route) -> Routes:
    return Routes(1, routes)
