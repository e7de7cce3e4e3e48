"""Connections through a gateway, over sockets: who is carried where, and every byte of it."""

import random
import ssl
from functools import partial

import pytest
import trio
from mcstatus import LegacyServer
from trio.testing import memory_stream_pair

from scripts.gateway_node import carrying, door, reception
from scripts.gateway_node.counters import TurnedAway
from scripts.gateway_node.reception import OPENING_SECONDS, receive_opening
from tests.gateway_node.bytes_of import handshake, legacy_ping
from tests.gateway_node.minecraft import minecraft, status
from tests.gateway_node.play import ISLANDS, LOBBY, gateway, player, route
from tests.support.waiting import PATIENCE_SECONDS


async def test_two_names_lead_to_two_servers():
    async with (
        minecraft("Lobby") as one,
        minecraft("Islands") as two,
        gateway([route(LOBBY, one), route(ISLANDS, two)]) as running,
    ):
        for host, motd in ((LOBBY, "Lobby"), (ISLANDS, "Islands"), (f"{LOBBY.upper()}.", "Lobby")):
            assert await status(host, running.port) == motd
        counters = running.carrying.counters
        assert (counters.accepted, counters.carried, running.turned_away()) == (3, 3, {})
        await running.until(opening=0, connections=0)


async def test_unknown_names_and_noise_are_closed_without_a_word():
    async with minecraft() as server, gateway([route(LOBBY, server)]) as running:
        sent = (
            handshake("other.example.org", 2),
            handshake("", 1),
            b"GET / HTTP/1.1\r\n\r\n",
            b"\x16\x03\x01\0\0",
        )
        for data in sent:
            async with player(running.port, data) as one:
                assert await one.rest() == b""
        async with player(running.port, handshake(LOBBY)[:9]) as one:
            await one.stream.send_eof()
            assert await one.rest() == b""
        await running.until(opening=0)
        assert running.turned_away() == {"unknown host": 2, "malformed": 2, "left": 1}
        assert server.connections == 0


@pytest.mark.slow
async def test_every_byte_arrives_both_ways_and_ends_one_after_the_other():
    blob = random.Random(1).randbytes(8 * 1024 * 1024)
    async with minecraft() as server, gateway([route(LOBBY, server)]) as running:
        async with (
            player(running.port, handshake(LOBBY, 2) + b"begin") as one,
            trio.open_nursery() as nursery,
        ):

            async def send() -> None:
                await one.send(blob)
                await one.stream.send_eof()

            nursery.start_soon(send)
            opening = handshake(LOBBY, 2) + b"begin"
            heard = await one.rest()
        assert heard == opening + blob + b"bye"
        await running.until(connections=0)
        counters = running.carrying.counters
        assert (counters.bytes_to_backends, counters.bytes_to_players) == (len(heard) - 3, len(heard))


@pytest.mark.slow
async def test_a_side_that_does_not_read_stops_the_other_one():
    """The echo fills every buffer on its way, and then nothing more is taken: what is held has a bound."""
    async with (
        minecraft() as server,
        gateway([route(LOBBY, server)]) as running,
        player(running.port, handshake(LOBBY, 2)) as one,
    ):
        sent = 0
        while True:
            with trio.move_on_after(0.3) as scope:
                await one.stream.send_all(bytes(65_536))
            if scope.cancelled_caught:
                break
            sent += 65_536
        assert sent < 64 * 1024 * 1024


async def test_a_farewell_arrives_though_nothing_is_taken_any_more():
    farewell = random.Random(2).randbytes(20_000)
    async with minecraft(farewell=farewell) as server, gateway([route(LOBBY, server)]) as running:
        async with player(running.port, handshake(LOBBY, 2), bytes(100_000)) as one:
            assert await one.rest() == farewell
        await running.until(connections=0)


async def test_silent_connections_end():
    async with minecraft() as server, gateway([route(LOBBY, server)], idle_seconds=0.1) as running:
        async with player(running.port, handshake(LOBBY, 2)) as one:
            await one.rest()
        await running.until(connections=0)
        assert running.carrying.counters.idle == 1


async def test_pings_of_old_clients(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reception, "SILENCE_SECONDS", 0.05)
    async with minecraft() as server, gateway([route(LOBBY, server)]) as running:
        ask = partial(LegacyServer("127.0.0.1", running.port, timeout=PATIENCE_SECONDS).status, tries=1)
        found = await trio.to_thread.run_sync(ask)
        assert "1.7" in found.motd.to_plain()
        for data in (b"\xfe", b"\xfe\x01"):
            async with player(running.port, data) as one:
                assert (await one.rest())[:1] == b"\xff"
        async with player(running.port, legacy_ping("other.example.org")) as one:
            assert await one.rest() == b""
        assert (running.carrying.counters.pings, running.turned_away()) == (3, {"unknown host": 1})


async def test_tls_and_pings_that_say_a_host_are_carried_by_it():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    seen: list[bytes] = []

    async def backend(stream: trio.SocketStream) -> None:
        seen.append(bytes(await stream.receive_some(65_536)))
        await stream.aclose()

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, backend, listeners)
        async with gateway([route(LOBBY, listeners[0].socket.getsockname()[1])]) as running:
            for host in (LOBBY, "other.example.org"):
                stream = await trio.open_tcp_stream("127.0.0.1", running.port)
                tls = trio.SSLStream(stream, context, server_hostname=host)
                with pytest.raises(trio.BrokenResourceError):
                    await tls.do_handshake()
                await trio.aclose_forcefully(tls)
            async with player(running.port, legacy_ping(f"{LOBBY}.")) as one:
                assert await one.rest() == b""
        nursery.cancel_scope.cancel()
    assert [data[:2] for data in seen] == [b"\x16\x03", b"\xfe\x01"]
    assert LOBBY.encode() in seen[0]
    assert seen[1] == legacy_ping(f"{LOBBY}.")


async def test_the_openings_of_an_address_are_bounded():
    async with minecraft("Lobby") as server, gateway([route(LOBBY, server)]) as running:
        async with trio.open_nursery() as nursery:

            async def wait(task_status: trio.TaskStatus[None]) -> None:
                async with player(running.port, b"\x20") as one:
                    task_status.started()
                    await one.rest()

            for _ in range(door.OPENING_PER_ADDRESS):
                await nursery.start(wait)
            await running.until(opening=door.OPENING_PER_ADDRESS)
            async with player(running.port) as one:
                assert await one.rest() == b""
            assert running.turned_away() == {"address": 1}
            nursery.cancel_scope.cancel()
        await running.until(opening=0)
        assert await status(LOBBY, running.port) == "Lobby"


async def test_connections_are_bounded():
    async with minecraft("Lobby") as server, gateway([route(LOBBY, server)], capacity=2) as running:
        async with player(running.port, handshake(LOBBY, 2)), player(running.port, handshake(LOBBY, 2)):
            await running.until(connections=2)
            async with player(running.port, handshake(LOBBY, 2)) as one:
                assert await one.rest() == b""
        await running.until(connections=0)
        assert running.turned_away() == {"full": 1}
        assert await status(LOBBY, running.port) == "Lobby"


async def test_no_handshake_in_time_is_closed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(carrying, "OPENING_SECONDS", 0.1)
    async with gateway() as running:
        async with player(running.port) as silent, player(running.port, b"\x20\0") as slow:
            assert (await silent.rest(), await slow.rest()) == (b"", b"")
        assert running.turned_away() == {"slow": 2}


async def test_a_byte_a_second_does_not_buy_time(autojump_clock: trio.testing.MockClock):
    ours, theirs = memory_stream_pair()
    async with trio.open_nursery() as nursery:

        async def drip() -> None:
            for byte in handshake(LOBBY):
                await theirs.send_all(bytes((byte,)))
                await trio.sleep(1)

        nursery.start_soon(drip)
        with trio.move_on_after(OPENING_SECONDS) as scope:
            await receive_opening(ours, bytearray())
        assert scope.cancelled_caught
        assert trio.current_time() == OPENING_SECONDS
        nursery.cancel_scope.cancel()


async def test_two_megabytes_are_refused_at_their_first_bytes():
    ours, theirs = memory_stream_pair()
    await theirs.send_all(b"\x80\x89\x7a" + bytes(2_000_000))
    data = bytearray()
    with pytest.raises(TurnedAway, match="malformed"):
        await receive_opening(ours, data)
    assert len(data) < 5_000
