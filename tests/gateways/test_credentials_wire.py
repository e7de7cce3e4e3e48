"""Wire: who may register a gateway, and what its secret opens."""

import pytest
import trio

from routes.gateways.parts import CARRYING
from tests.connect.play import claimed
from tests.gateways.play import REGISTER, TOKEN, Gateway, gateway, identity
from tests.support.canaries import dump, found
from tests.support.waiting import wait_until
from tests.support.world import Player, World

BEAT = {"connections": 0, "routesRevision": 0}
REFUSED = (401, "BAD_SERVER_CREDENTIALS")


@pytest.mark.one_node(because="it counts to the last token")
async def test_the_deployment_token_registers_and_is_not_guessed(world: World):
    nobody = world.nobody()
    for token in ("", TOKEN[:-1], f"{TOKEN} ", "ä"):
        assert await nobody.refused("POST", REGISTER, identity(token=token)) == REFUSED
    for host in ("", "a b", "*.example.net", "127.1", "http://gw.example.net", "gw.example.net:25565"):
        assert (await nobody.refused("POST", REGISTER, identity(host)))[0] == 422
    made = await nobody.do("POST", REGISTER, identity("[2001:DB8:0::1]"), status=201)
    assert made["publicHost"] == "2001:db8::1"
    guesses = 4
    while await nobody.refused("POST", REGISTER, identity(token="guess")) == REFUSED:
        guesses += 1
    assert guesses >= 60  # one more a second, as long as this takes
    response = await nobody.ask("POST", REGISTER, identity())
    assert response.status_code == 429
    assert response.headers["ratelimit-policy"].startswith('"bad-credentials"')
    world.clock.advance(60_000)
    await gateway(world)


async def test_a_secret_opens_the_heartbeat_of_its_gateway_alone(world: World):
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    one, two = await gateway(world, "gw1.example.net"), await gateway(world, "gw2.example.net")
    await one.do("POST", one.path, BEAT, status=200)
    assert await one.refused("POST", two.path, BEAT) == (404, "NOT_FOUND")
    for headers in (
        {},
        {"x-gateway-id": one.id},
        {"authorization": one.headers["authorization"]},
        {**one.headers, "x-gateway-id": two.id},
        {**one.headers, "x-gateway-id": "f" * 24},
        {**one.headers, "authorization": f"Bearer {TOKEN}"},
        {**one.headers, "authorization": "Basic eDp5"},
        ann.headers,
        server.headers,
        {**server.headers, "x-gateway-id": server.id},
    ):
        stranger = Player(world, "", "", None)
        stranger.headers = headers
        assert await stranger.refused("POST", one.path, BEAT) == REFUSED, headers
    for path in (
        "/v1/auth/verify",
        "/v1/connect/servers",
        f"{server.path}/gateways",
        "/v1/admin/connect/gateways",
    ):
        assert (await one.refused("GET", path))[0] == 401
    for admin in ("/v1/admin/connect/gateways", "/v1/admin/connect/gateway-routes"):
        assert await ann.refused("GET", admin) == (403, "FORBIDDEN")
    assert await ann.refused("PATCH", f"/v1/admin/connect/gateways/{one.id}", {}) == (403, "FORBIDDEN")
    for wrong in (
        {"waitSeconds": 21},
        {"connections": -1},
        {"routesRevision": -1},
        {"routesRevision": 2**53},
    ):
        assert (await one.refused("POST", one.path, BEAT | wrong))[0] == 422


async def test_secrets_are_kept_hashed_and_end_with_the_next(world: World):
    nobody, once = world.nobody(), {"idempotency-key": "once"}
    answers = [await nobody.ask("POST", REGISTER, identity(), headers=once) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    one = Gateway(world, answers[0].json())
    await one.beat()
    kept = await world.service.database.read(dump)
    assert found((answers[0].json()["gatewaySecret"], TOKEN), kept) == []

    async def waits() -> bool:
        return world.service.of(CARRYING).waiting == 1

    async def outlived() -> None:
        body = {"connections": 0, "routesRevision": one.revision, "waitSeconds": 20}
        assert await one.refused("POST", one.path, body) == REFUSED

    async with trio.open_nursery() as nursery:
        nursery.start_soon(outlived)
        await wait_until(waits)
        again = await gateway(world)
        world.service.of(CARRYING).close()  # as when the service drains
    assert (again.id, again.headers == one.headers) == (one.id, False)
    assert await one.refused("POST", one.path, BEAT) == REFUSED
    with trio.fail_after(10):
        await again.do("POST", again.path, BEAT | {"routesRevision": 1, "waitSeconds": 20}, status=200)
