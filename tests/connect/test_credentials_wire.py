"""What servers prove themselves with: secrets, rotation, delegated tokens; and that none of it passes for another."""

import json

import pytest

from actors.time import parse_iso
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import SERVERS, GameServer, claimed, register
from tests.edge.raw import raw
from tests.support.one_world import in_one_world
from tests.support.waiting import wait_until
from tests.support.world import World

BAD = (401, "BAD_SERVER_CREDENTIALS")


async def test_a_rotated_secret_is_taken_for_ten_minutes_more(world: World):
    """The one before is taken for ten minutes, the one before that no longer."""
    ann = await world.player("Ann")
    first = await claimed(world, ann)
    path = f"{first.path}/claim-key"
    await first.get(path)
    made = await ann.do("POST", f"{first.path}/secret/rotate", status=200)
    second = first.bearing(made["serverSecret"])
    await second.get(path)
    await first.get(path)
    made = await ann.do("POST", f"{first.path}/secret/rotate", status=200)
    third = first.bearing(made["serverSecret"])
    assert await first.refused("GET", path) == BAD
    await second.get(path)
    world.clock.advance(10 * 60_000)
    assert await second.refused("GET", path) == BAD
    await third.get(path)


async def test_a_token_of_a_former_secret_says_that_it_ends_with_it(world: World) -> None:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    wish = {"scopes": ["server.settings.read"], "ttlSeconds": 900}
    world.clock.stop()
    made = await ann.do("POST", f"{server.path}/secret/rotate", status=200)
    ends_ms = parse_iso(made["formerValidUntil"])
    world.clock.advance(60_000)
    token = await server.do("POST", f"{server.path}/tokens", wish, status=201)
    assert ends_ms - 2_000 <= parse_iso(token["expiresAt"]) <= ends_ms
    world.clock.advance(parse_iso(token["expiresAt"]) - world.clock.now_ms() - 1)
    await server.bearing(token["token"]).get(f"{server.path}/settings")
    last = await server.do("POST", f"{server.path}/tokens", wish, status=201)
    assert parse_iso(last["expiresAt"]) <= ends_ms + 1_000
    short = {**wish, "ttlSeconds": 60}
    newer = await server.bearing(made["serverSecret"]).do("POST", f"{server.path}/tokens", short, status=201)
    assert parse_iso(newer["expiresAt"]) > ends_ms


@pytest.mark.parametrize("times", [1, 2])
async def test_a_secret_that_is_replaced_while_its_request_arrives_makes_no_token_of_its_successor(
    world: World, times: int
) -> None:
    """The token ends with the secret that it was made with, though that was the newest when the request was let in."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    credentials, scopes = world.service.of(GAME_SERVERS).credentials, ["server.status.write"]
    body = json.dumps({"scopes": scopes, "ttlSeconds": 900}).encode()
    world.clock.advance(1_000)
    sent_ms = world.clock.now_ms()

    async def let_in() -> bool:
        return (credentials.last_seen(server.id) or (0, ""))[0] >= sent_ms

    async with raw(world.url) as connection:
        fields = {
            "host": "t", **server.headers, "content-type": "application/json", "content-length": len(body),
        }  # fmt: skip
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        await connection.send(f"POST {server.path}/tokens HTTP/1.1\r\n{head}\r\n".encode())
        await wait_until(let_in)
        for _ in range(times):
            await ann.do("POST", f"{server.path}/secret/rotate", status=200)
        await connection.send(body)
        status, _, answer = await connection.read_response()
    made = json.loads(answer)
    if times == 2:
        assert (status, made["code"]) == BAD
        return
    assert status == 201
    delegated = server.bearing(made["token"])
    assert (await delegated.ask("GET", f"{SERVERS}/{server.id}/access")).status_code != 401
    world.clock.advance(10 * 60_000)
    assert await delegated.refused("GET", f"{SERVERS}/{server.id}/access") == (401, "TOKEN_EXPIRED")


async def test_all_bad_credentials_are_refused_alike(world: World):
    """Whatever is wrong looks the same."""
    ann = await world.player("Ann")
    server, other = await claimed(world, ann), await register(world)
    path = f"{server.path}/claim-key"
    for headers in (
        {},
        {"x-server-id": server.id},
        {"authorization": f"Bearer {server.secret}"},
        {"authorization": f"Bearer {server.secret}", "x-server-id": other.id},
        {"authorization": f"Bearer {other.secret}", "x-server-id": server.id},
        {"authorization": f"Bearer {ann.token}", "x-server-id": server.id},
        {"authorization": f"Bearer {server.secret}x", "x-server-id": server.id},
        {"authorization": f"Basic {server.secret}", "x-server-id": server.id},
        {"authorization": f"Bearer {server.secret}", "x-server-id": "nobody"},
        {"authorization": f"Bearer {server.secret}", "x-server-id": ann.id},
        {"authorization": "Bearer a.b.c", "x-server-id": server.id},
    ):
        response = await world.nobody().ask("GET", path, headers=headers)
        assert (response.status_code, response.json()["code"]) == BAD, headers
        assert response.headers["www-authenticate"] == "Bearer"
    assert await other.refused("GET", path) == (404, "NOT_FOUND")


async def test_users_and_servers_are_apart(world: World):
    """Neither's credential opens a route of the other."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    delegated = await server.delegated("server.status.write")
    for credential in (server, delegated):
        assert await credential.refused("GET", SERVERS) == (401, "UNAUTHENTICATED")
        assert (await credential.refused("GET", "/v1/auth/verify"))[0] == 401
    assert await ann.refused("GET", f"{server.path}/claim-key") == BAD


async def test_delegated_tokens_end_with_their_scope_time_and_secret(world: World):
    """They are for their scopes and their time, and end with the secret that made them."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    sessions = f"{server.path}/sessions"
    allowed = await server.delegated("server.sessions.write", ttlSeconds=60)
    other = await server.delegated("server.status.write")
    unknown = {"ticket": "unknown"}
    assert await allowed.refused("POST", sessions, unknown) == (404, "NOT_FOUND")
    response = await other.ask("POST", sessions, unknown)
    assert response.status_code == 403
    assert response.json()["meta"] == {"permission": "server.sessions.write"}
    for path, body in (
        ("tokens", {"scopes": ["server.status.write"]}),
        ("permission-tokens", {"userId": ann.id}),
    ):
        assert await other.refused("POST", f"{server.path}/{path}", body) == (403, "FORBIDDEN")
    assert await other.refused("GET", f"{server.path}/claim-key") == (403, "FORBIDDEN")
    world.clock.advance(60_000)
    assert await allowed.refused("POST", sessions, unknown) == (401, "TOKEN_EXPIRED")
    fresh = await server.delegated("server.sessions.write")
    await ann.do("POST", f"{server.path}/secret/rotate")
    assert await fresh.refused("POST", sessions, unknown) == (404, "NOT_FOUND")
    await ann.do("POST", f"{server.path}/secret/rotate")
    assert await fresh.refused("POST", sessions, unknown) == BAD


async def test_a_token_is_for_its_server(world: World):
    ann = await world.player("Ann")
    server, other = await claimed(world, ann), await claimed(world, ann)
    token = await server.delegated("server.sessions.write")
    forged = GameServer(
        world,
        {"serverId": other.id, "serverName": "", "serverSecret": token.secret, "claimKey": ""},
    )
    assert await forged.refused("POST", f"{other.path}/sessions", {"ticket": "x"}) == BAD
    head, body, signature = token.secret.split(".")
    changed = token.bearing(f"{head}.{body}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}")
    assert await changed.refused("POST", f"{server.path}/sessions", {"ticket": "x"}) == BAD


@in_one_world(
    ("body", "pointer"),
    [
        ({"scopes": []}, "/scopes"),
        ({"scopes": ["server.everything"]}, "/scopes/0"),
        ({"scopes": ["server.status.write"], "ttlSeconds": 901}, "/ttlSeconds"),
        ({"scopes": ["server.status.write"], "ttlSeconds": 0}, "/ttlSeconds"),
    ],
)
async def test_tokens_that_are_not_made(world: World, body: dict[str, object], pointer: str):
    server = await register(world)
    response = await server.ask("POST", f"{server.path}/tokens", body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == pointer
