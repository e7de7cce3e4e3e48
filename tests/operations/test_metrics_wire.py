"""Wire: the last hour in numbers, and the channel that tells each new sample; for super-admins."""

import pytest

from actors.operations.history import EVERY_MS, LENGTH
from actors.operations.series import SERIES
from routes.operations.parts import LIVE_METRICS
from routes.operations.sampling import Sampler, read_totals, sample_between
from tests.support.spec import spec
from tests.support.waiting import patience
from tests.support.world import World

HISTORY = "/v1/admin/metrics/history"


@pytest.mark.one_node(because="what operators watch is of the node that answers")
async def test_an_hour_is_kept_from_the_start_on(world: World) -> None:
    sampler = Sampler(world.service)
    sampler.take()
    first = world.service.of(LIVE_METRICS).newest
    for _ in range(LENGTH + 2):
        world.clock.advance(EVERY_MS)
        sampler.take()
    root = await world.super_admin()
    history = await root.get(HISTORY)
    assert (history["startedAtMs"], history["everyMs"]) == (first.started_at_ms, EVERY_MS)
    assert len(history["atMs"]) == LENGTH
    assert history["atMs"] == sorted(history["atMs"])
    assert {one["name"]: (one["unit"], len(one["values"])) for one in history["series"]} == {
        name: (one.unit, LENGTH) for name, one in SERIES.items()
    }
    newer = await root.get(HISTORY, sinceMs=history["atMs"][-3])
    assert newer["atMs"][:2] == history["atMs"][-2:]
    assert [one["values"][:2] for one in newer["series"]] == [one["values"][-2:] for one in history["series"]]


@pytest.mark.one_node(because="what operators watch is of the node that answers")
async def test_what_the_numbers_say(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    async with ann.live("/v1/social/live?channels=inbox") as socket:
        await socket.receive_until(type="snapshot")
        await ann.talk_to(ben)
        await socket.receive_until(type="snapshot")
        world.clock.stop()
        before = read_totals(world.service, 3.0)
        for _ in range(10):
            await ann.get("/v1/profile/self")
        for _ in range(5):
            assert (await ann.ask("GET", HISTORY)).status_code == 403
        world.clock.advance(EVERY_MS)
        then = read_totals(world.service, 4.0)
        busy = sample_between(world.service, before, then)
    assert busy.keys() == SERIES.keys()
    assert (busy["requestsOk"], busy["requestsRefused"], busy["requestsFailed"], busy["cpu"]) == (2, 1, 0, 20)
    assert 0 < (busy["latencyP50"] or 0) <= (busy["latencyP99"] or 0)
    assert (busy["sockets"], busy["databaseAvailable"]) == (1, 1)
    assert (busy["actors"] or 0) >= 1
    assert (busy["memory"] or 0) > 2**20
    world.clock.advance(EVERY_MS)
    quiet = sample_between(world.service, then, read_totals(world.service, 4.0))
    assert (quiet["requestsOk"], quiet["cpu"], quiet["latencyP99"]) == (0, 0, None)


async def test_rates_need_two_readings_and_time(world: World) -> None:
    world.clock.stop()
    sampler = Sampler(world.service)
    before = world.service.of(LIVE_METRICS).newest
    for _ in range(2):
        sampler.take()
        assert world.service.of(LIVE_METRICS).newest is before


@pytest.mark.one_node(because="what operators watch is of the node that answers")
async def test_the_channel_tells_each_sample(world: World) -> None:
    root, other = await world.super_admin(), await world.super_admin()
    sampler = Sampler(world.service)
    sampler.take()
    async with root.live("/v1/social/live?channels=metrics") as client, other.live() as second:
        first = await client.receive_until(type="snapshot", channel="metrics")
        spec().check_frame("MetricsSnapshot", first["data"])
        assert first["data"]["type"] == "metrics_snapshot"
        subscribe = {"id": 1, "op": "subscribe", "channel": "metrics", "params": {"mode": "delta"}}
        await second.send_json(subscribe)
        await second.receive_until(type="snapshot", channel="metrics")
        world.advance(EVERY_MS)
        sampler.take()
        snapshot = await client.receive_until(type="snapshot", channel="metrics")
        event = await second.receive_until(type="event", channel="metrics")
        spec().check_frame("MetricsSampled", event["data"])
        assert event["event"] == "metrics_sampled"
        # What a client has with the event is what a fresh snapshot has.
        assert {**first["data"], **event["data"]} == snapshot["data"]
        assert snapshot["data"]["atMs"] == world.service.of(LIVE_METRICS).newest.at_ms


async def test_only_super_admins_watch_and_only_as_long(world: World) -> None:
    admin, root = await world.ranked("Adam", "admin"), await world.super_admin()
    async with admin.live("/v1/social/live?channels=") as client:
        await client.send_json({"id": 1, "op": "subscribe", "channel": "metrics"})
        reply = await client.receive_until(type="reply", id=1)
        assert reply["error"] | {"message": ""} == {
            "code": "FORBIDDEN", "message": "", "meta": {"role": "super-admin"},
        }  # fmt: skip
        role = f"/v1/admin/users/{admin.id}/roles/super-admin"
        await root.do("PUT", role)
        await client.send_json({"id": 2, "op": "subscribe", "channel": "metrics"})
        assert (await client.receive_until(type="reply", id=2))["ok"]
        with patience():
            await root.do("DELETE", role)
            assert (await client.receive_until(type="unsubscribed"))["code"] == "FORBIDDEN"
