"""Commands over the wire: given, taken, acknowledged, cancelled, waited for; by whom, and by nobody else."""

from pathlib import Path

import pytest
import trio

from routes.connect import jobs
from routes.connect.waiters import WAITERS
from tests.connect.play import GameServer, claimed, register
from tests.support.jobs import clean_connect
from tests.support.waiting import patience, wait_until
from tests.support.world import Player, World, open_world


async def _give(owner: Player, server: GameServer, action: str = "restart", **more: object) -> str:
    made = await owner.do("POST", f"{server.path}/commands", {"action": action, **more}, status=201)
    return str(made["command"]["id"])


async def _ack(server: GameServer, id: str, status: str, **more: object) -> dict[str, object]:
    path = f"{server.path}/commands/{id}/ack"
    reply = await server.do("POST", path, {"status": status, **more}, status=200)
    command: dict[str, object] = reply["command"]
    return command


@pytest.mark.both_edges
async def test_a_command_from_beginning_to_end(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    body = {"action": "restart", "payload": {"delay": 5}}
    made = (await ann.do("POST", f"{server.path}/commands", body, status=201))["command"]
    assert (made["status"], made["version"], made["attempts"]) == ("pending", 1, 0)
    assert (made["payload"], made["createdBy"], made["serverId"]) == ({"delay": 5}, ann.id, server.id)
    (taken,) = (await server.get(f"{server.path}/commands"))["items"]
    assert (taken["id"], taken["status"], taken["attempts"]) == (made["id"], "delivered", 1)
    assert (await server.get(f"{server.path}/commands"))["items"] == []
    running = await _ack(server, made["id"], "running", progress=10)
    assert (running["status"], running["progress"]) == ("running", 10)
    assert running["startedAt"] is not None
    done = await _ack(server, made["id"], "ok", result={"took": 3})
    assert (done["status"], done["result"]) == ("success", {"took": 3})
    (seen,) = (await ann.get(f"{server.path}/commands"))["items"]
    assert seen == done
    again = await _ack(server, made["id"], "success", result={"took": 3})
    assert again == done
    path = f"{server.path}/commands/{made['id']}"
    assert await server.refused("POST", f"{path}/ack", {"status": "failed"}) == (409, "COMMAND_FINISHED")
    assert await ann.refused("DELETE", path) == (409, "COMMAND_FINISHED")


async def test_leases_end_and_commands_come_again(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    first, second = await _give(ann, server), await _give(ann, server)
    (taken,) = (await server.get(f"{server.path}/commands", limit=1))["items"]
    assert taken["id"] == first
    assert [one["id"] for one in (await server.get(f"{server.path}/commands"))["items"]] == [second]
    world.clock.advance(30_000)
    items = (await server.get(f"{server.path}/commands"))["items"]
    assert [(one["id"], one["attempts"]) for one in items] == [(second, 2), (first, 2)]
    await _ack(server, first, "running")
    world.clock.advance(30_000)
    items = (await server.get(f"{server.path}/commands"))["items"]
    assert [one["id"] for one in items] == [second]
    world.clock.advance(300_000)
    assert (await server.get(f"{server.path}/commands"))["items"] == []
    path = f"{server.path}/commands/{first}/ack"
    assert await server.refused("POST", path, {"status": "success"}) == (409, "COMMAND_FINISHED")


async def test_a_cancelled_command_is_not_delivered_and_cannot_be_acknowledged(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    id = await _give(ann, server)
    for _ in range(2):
        await ann.do("DELETE", f"{server.path}/commands/{id}", status=204)
    assert (await server.get(f"{server.path}/commands"))["items"] == []
    (seen,) = (await ann.get(f"{server.path}/commands", status="cancelled"))["items"]
    assert seen["id"] == id
    path = f"{server.path}/commands/{id}/ack"
    assert await server.refused("POST", path, {"status": "success"}) == (409, "COMMAND_FINISHED")


async def test_commands_are_for_the_server_and_who_may_write_them(world: World):
    ann, bob = await world.players("Ann", "Bob")
    server, other = await claimed(world, ann), await claimed(world, bob)
    id = await _give(ann, server)
    path = f"{server.path}/commands"
    not_found = (404, "NOT_FOUND")
    assert await bob.refused("POST", path, {"action": "stop"}) == not_found
    assert await bob.refused("GET", path) == not_found
    assert await bob.refused("DELETE", f"{path}/{id}") == not_found
    assert await other.refused("GET", path) == not_found
    assert await other.refused("POST", f"{path}/{id}/ack", {"status": "ok"}) == not_found
    assert await other.refused("POST", f"{other.path}/commands/{id}/ack", {"status": "ok"}) == not_found
    assert await server.refused("POST", path, {"action": "stop"}) == (401, "UNAUTHENTICATED")
    weak = await server.delegated("server.settings.read")
    assert await weak.refused("GET", path) == (403, "FORBIDDEN")
    assert await weak.refused("POST", f"{path}/{id}/ack", {"status": "ok"}) == (403, "FORBIDDEN")
    unclaimed = await register(world)
    assert await ann.refused("POST", f"{unclaimed.path}/commands", {"action": "stop"}) == not_found
    await world.grant(ann, "connect:commands:write", negated=True)
    assert await ann.refused("POST", path, {"action": "stop"}) == (403, "FORBIDDEN")


async def test_bad_or_too_large_commands_and_results_are_refused(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    path = f"{server.path}/commands"
    invalid = (422, "VALIDATION_FAILED")
    assert await ann.refused("POST", path, {"action": ""}) == invalid
    assert await ann.refused("POST", path, {"action": "a\nb"}) == invalid
    assert await ann.refused("POST", path, {"action": "a", "ttlSeconds": 86_401}) == invalid
    assert await ann.refused("POST", path, {"action": "a", "payload": []}) == invalid
    assert await ann.refused("POST", path, {"action": "a", "extensionId": "none"}) == invalid
    large = {"action": "a", "payload": {"x": "y" * 70_000}}
    assert await ann.refused("POST", path, large) == (413, "PAYLOAD_TOO_LARGE")
    id = await _give(ann, server)
    assert await server.refused("POST", f"{path}/{id}/ack", {"status": "expired"}) == invalid
    large = {"status": "ok", "result": {"x": "y" * 70_000}}
    assert await server.refused("POST", f"{path}/{id}/ack", large) == (413, "PAYLOAD_TOO_LARGE")
    for result in ([1, 2], "done", 7, False):
        body = {"status": "ok", "result": result}
        assert await server.refused("POST", f"{path}/{id}/ack", body) == invalid
    assert (await ann.ask("GET", f"{path}?status=none")).status_code == 400


async def test_pages_are_newest_first(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    ids = [await _give(ann, server) for _ in range(5)]
    page = await ann.get(f"{server.path}/commands", limit=3)
    assert [one["id"] for one in page["items"]] == ids[:1:-1]
    assert page["hasMore"]
    rest = await ann.get(f"{server.path}/commands", limit=3, cursor=page["nextCursor"])
    assert [one["id"] for one in rest["items"]] == ids[1::-1]
    assert (rest["nextCursor"], rest["hasMore"]) == (None, False)


@pytest.mark.both_edges
async def test_a_long_poll_is_answered_when_there_is_something(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    polled: list[str] = []

    async def poll() -> None:
        items = (await server.get(f"{server.path}/commands", wait=20))["items"]
        polled.extend(one["id"] for one in items)

    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(poll)

            async def waits() -> bool:
                return any(one.of(WAITERS).waiting(server.id) for one in world.services)

            await wait_until(waits)
            id = await _give(ann, server)
    assert polled == [id]


@pytest.mark.both_edges
async def test_a_long_poll_ends_at_the_time_that_it_asked_for(world: World):
    """One of a second returns while one of twenty, which began before it, goes on."""
    ann = await world.player("Ann")
    server, other = await claimed(world, ann), await claimed(world, ann)

    async def wait_long() -> None:
        assert len((await other.get(f"{other.path}/commands", wait=20))["items"]) == 1

    async def waits() -> bool:
        return any(one.of(WAITERS).waiting(other.id) for one in world.services)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait_long)
        await wait_until(waits)
        assert (await server.get(f"{server.path}/commands", wait=1))["items"] == []
        assert await waits()
        await _give(ann, other)


@pytest.mark.both_edges
async def test_prefer_wait_answers_the_finished_command(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    prefer = {"prefer": "respond-async, wait=20"}

    async def serve() -> None:
        (command,) = (await server.get(f"{server.path}/commands", wait=20))["items"]
        await _ack(server, command["id"], "success", result={"took": 2})

    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve)
            response = await ann.ask("POST", f"{server.path}/commands", {"action": "a"}, headers=prefer)
    assert response.status_code == 200
    assert response.json()["command"]["result"] == {"took": 2}
    response = await ann.ask("POST", f"{server.path}/commands", {"action": "a"}, headers={"prefer": "wait=1"})
    assert (response.status_code, response.json()["command"]["status"]) == (201, "pending")


async def test_a_repeat_makes_no_second_command(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    key = {"idempotency-key": "once"}
    first, second = [
        await ann.ask("POST", f"{server.path}/commands", {"action": "a"}, headers=key) for _ in range(2)
    ]
    assert first.json() == second.json()
    assert second.headers["idempotent-replayed"] == "true"
    assert len((await ann.get(f"{server.path}/commands"))["items"]) == 1


async def test_of_fifty_acknowledgements_that_differ_one_wins(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    id = await _give(ann, server)
    outcomes: list[int] = []

    async def ack(number: int) -> None:
        body = {"status": "success", "result": {"number": number}}
        outcomes.append((await server.ask("POST", f"{server.path}/commands/{id}/ack", body)).status_code)

    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(ack, number)
    assert sorted(outcomes) == [200] + [409] * 49


async def test_open_commands_outlive_a_restart_and_finished_ones_are_forgotten_in_time(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        ids = [await _give(ann, server) for _ in range(5)]
        for id in ids[:4]:
            await _ack(server, id, "success")
    async with open_world(database_url, tmp_path) as world:
        server.world = ann.world = world
        (taken,) = (await server.get(f"{server.path}/commands"))["items"]
        assert taken["id"] == ids[4]
        again = await _ack(server, ids[0], "success")
        assert again["status"] == "success"
        monkeypatch.setattr(jobs, "FINISHED_KEPT", 2)
        await clean_connect(world)
        left = [one["id"] for one in (await ann.get(f"{server.path}/commands"))["items"]]
        assert left == [ids[4], ids[3], ids[2]]
        for most, kept in ((4, [ids[3], ids[2]]), (3, [ids[3]]), (1, [ids[3]])):  # two bytes each
            monkeypatch.setattr(jobs, "FINISHED_BYTES", most)
            await clean_connect(world)
            shown = [one["id"] for one in (await ann.get(f"{server.path}/commands"))["items"]]
            assert shown == [ids[4], *kept]


ROUNDS = 3
ACKNOWLEDGEMENTS = 50


@pytest.mark.slow
async def test_no_two_ends_of_a_command_are_acknowledged(database_url: str, tmp_path: Path):
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        for _ in range(ROUNDS):
            id = await _give(ann, server)
            path = f"{server.path}/commands/{id}/ack"
            told: list[tuple[int, int, str]] = []

            async def end(n: int, path: str) -> None:
                answer = await server.ask("POST", path, {"status": "success", "result": {"n": n}})
                told.append((answer.status_code, n, answer.json().get("code", "")))  # noqa: B023

            async with trio.open_nursery() as nursery:
                for n in range(ACKNOWLEDGEMENTS):
                    nursery.start_soon(end, n, path)
            (acknowledged,) = [n for status, n, _ in told if status == 200]
            refused = {(status, code) for status, _, code in told if status != 200}
            assert refused == {(409, "COMMAND_FINISHED")}
            (seen,) = (await ann.get(f"{server.path}/commands", limit=1))["items"]
            assert (seen["id"], seen["result"]) == (id, {"n": acknowledged})
