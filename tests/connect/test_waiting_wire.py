"""Requests that wait over the wire: they end with the credentials that opened them, and with their client."""

import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio

from routes.connect.waiters import WAITERS
from tests.connect.play import GameServer, claimed
from tests.support.one_world import in_one_world
from tests.support.waiting import wait_until
from tests.support.world import Player, World

pytestmark = pytest.mark.both_edges

WAIT = 20


async def _poll(server: GameServer, answers: list[Any]) -> None:
    response = await server.ask("GET", f"{server.path}/commands?wait={WAIT}")
    answers.append((response.status_code, response.json()))


async def _waited_for(world: World, key: str) -> None:
    """Return once a request waits for this server or command."""

    async def waits() -> bool:
        return any(one.of(WAITERS).waiting(key) for one in world.services)

    await wait_until(waits)


async def _give(owner: Player, server: GameServer) -> str:
    body = {"action": "restart", "payload": {"delay": 5}}
    made = await owner.do("POST", f"{server.path}/commands", body, status=201)
    return str(made["command"]["id"])


async def test_a_poll_waits_on_where_another_has_taken_the_command(world: World) -> None:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    answers: list[Any] = []
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(_poll, server, answers)

        async def both_wait() -> bool:
            return sum(len(one.of(WAITERS)._waiting.get(server.id, ())) for one in world.services) == 2

        async def one_has_answered() -> bool:
            return len(answers) > 0

        await wait_until(both_wait)
        first = await _give(ann, server)
        await wait_until(one_has_answered)
        second = await _give(ann, server)
    given = [[one["id"] for one in said["items"]] for _, said in answers]
    assert given == [[first], [second]]


async def _is_untouched(owner: Player, server: GameServer, id: str) -> bool:
    (seen,) = (await owner.get(f"{server.path}/commands"))["items"]
    return (seen["id"], seen["status"], seen["attempts"]) == (id, "pending", 0)


async def _polled(
    world: World, ann: Player, server: GameServer, meanwhile: Callable[[], Awaitable[object]]
) -> tuple[int, Any, str]:
    """Status and body of a poll while which something happens, and then a command is given; and the command's id."""
    answers: list[tuple[int, Any]] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_poll, server, answers)
        await _waited_for(world, server.id)
        await meanwhile()
        id = await _give(ann, server)
    ((status, said),) = answers
    return status, said, id


async def test_a_poll_takes_nothing_after_its_secret_has_ended(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)

    async def rotate_twice() -> None:
        for _ in range(2):
            await ann.do("POST", f"{server.path}/secret/rotate", status=200)

    status, said, id = await _polled(world, ann, server, rotate_twice)
    assert (status, said["code"]) == (401, "BAD_SERVER_CREDENTIALS")
    assert await _is_untouched(ann, server, id)


async def test_a_poll_takes_nothing_after_its_token_has_expired(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    short = await server.delegated("server.commands.read", ttlSeconds=60)

    async def expire() -> None:
        world.clock.advance(61_000)

    status, said, id = await _polled(world, ann, short, expire)
    assert (status, said["code"]) == (401, "TOKEN_EXPIRED")
    assert await _is_untouched(ann, server, id)


async def test_a_poll_goes_on_with_the_former_secret_for_as_long_as_it_is_valid(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)

    async def rotate() -> None:
        await ann.do("POST", f"{server.path}/secret/rotate", status=200)

    status, said, id = await _polled(world, ann, server, rotate)
    assert (status, [one["id"] for one in said["items"]]) == (200, [id])


async def test_nobody_waits_for_a_server_that_was_removed(world: World):
    ann = await world.player("Ann")
    bob = await world.player("Bob")
    polled, asked = await claimed(world, ann, "Polled"), await claimed(world, bob, "Asked")
    answers: list[Any] = []
    made: list[Any] = []

    async def post() -> None:
        prefer = {"prefer": f"wait={WAIT}"}
        made.append(await bob.ask("POST", f"{asked.path}/commands", {"action": "a"}, headers=prefer))

    with trio.fail_after(WAIT / 2):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_poll, polled, answers)
            nursery.start_soon(post)
            await _waited_for(world, polled.id)
            await ann.do("DELETE", polled.path, status=204)
            (command,) = (await asked.get(f"{asked.path}/commands", wait=WAIT))["items"]
            await _waited_for(world, command["id"])
            await bob.do("DELETE", asked.path, status=204)
    ((status, said),) = answers
    assert (status, said["code"]) == (401, "BAD_SERVER_CREDENTIALS")
    assert (made[0].status_code, made[0].json()["command"]["id"]) == (201, command["id"])


@in_one_world("ends", ["membership", "permission", "token"])
async def test_a_result_is_not_shown_to_whoever_may_no_longer_see_it(world: World, ends: str):
    ann = await world.player("Ann", ttl_seconds=86_400)
    bob = await world.player("Bob", ttl_seconds=600)
    server = await claimed(world, ann)
    member = f"{server.path}/members/{bob.id}"
    await ann.do("PUT", member, {"role": "operator"}, status=200)
    answers: list[Any] = []

    async def post() -> None:
        body, prefer = {"action": "a", "ttlSeconds": 86_400}, {"prefer": f"wait={WAIT}"}
        answers.append(await bob.ask("POST", f"{server.path}/commands", body, headers=prefer))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(post)
        (command,) = (await server.get(f"{server.path}/commands", wait=WAIT))["items"]
        await _waited_for(world, command["id"])
        if ends == "membership":
            await ann.do("DELETE", member, status=204)
        elif ends == "permission":
            await world.grant(bob, "connect:commands:write", negated=True)
        else:
            world.clock.advance(601_000)
        ack = {"status": "success", "result": {"canary": 1}}
        await server.do("POST", f"{server.path}/commands/{command['id']}/ack", ack, status=200)
    (answer,) = answers
    assert (answer.status_code, answer.json()["command"]["status"]) == (201, "pending")
    assert answer.json()["command"]["result"] is None


async def _open_poll(world: World, server: GameServer) -> trio.SocketStream:
    """A poll whose connection the test has in its hands, once it waits."""
    parts = urlsplit(world.url)
    assert parts.hostname is not None and parts.port is not None
    stream = await trio.open_tcp_stream(parts.hostname, parts.port)
    await stream.send_all(
        f"GET {server.path}/commands?wait={WAIT} HTTP/1.1\r\nhost: {parts.netloc}\r\n"
        f"authorization: Bearer {server.secret}\r\nx-server-id: {server.id}\r\n\r\n".encode()
    )
    await _waited_for(world, server.id)
    return stream


async def _goes_to_who_is_there(world: World, owner: Player, server: GameServer) -> bool:
    answers: list[Any] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_poll, server, answers)
        await _waited_for(world, server.id)
        id = await _give(owner, server)
    ((_, said),) = answers
    return [(one["id"], one["attempts"]) for one in said["items"]] == [(id, 1)]


@in_one_world("how", ["finished", "reset"])
async def test_a_poll_whose_client_has_gone_does_not_take_what_comes(world: World, how: str):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    stream = await _open_poll(world, server)
    if how == "reset":
        stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await stream.aclose()
    # A poll that came later and ends sooner than the dead one would.
    assert (await server.get(f"{server.path}/commands", wait=3))["items"] == []
    assert not any(one.of(WAITERS).waiting(server.id) for one in world.services)
    assert await _goes_to_who_is_there(world, ann, server)
