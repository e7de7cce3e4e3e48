"""Wire: a repeat under an Idempotency-Key is answered alike, also where the effect has no rows (contract §3)."""

from tests.connect.play import claimed
from tests.support.jobs import job_named
from tests.support.one_world import in_one_world
from tests.support.world import Player, World, world
from tests.versions.play import Publisher

__all__ = ["world"]

EVENTS = "/v1/public/versions/events"
KEY = {"idempotency-key": "k"}


async def repeated(player: Player, method: str, path: str, body: object, status: int) -> None:
    """Send a request twice under one key, and another one under it."""
    first = await player.ask(method, path, body, headers=KEY)
    player.world.clock.advance(1_000)
    again = await player.ask(method, path, body, headers=KEY)
    assert (first.status_code, again.status_code) == (status, status), first.text
    assert first.content == again.content
    assert (first.headers.get("idempotent-replayed"), again.headers["idempotent-replayed"]) == (None, "true")


async def test_what_clients_report_counts_once(world: World) -> None:
    ann = await world.player("Ann")
    for node in ("versions:write", "versions:publish", "versions:track"):
        await world.grant(ann, node)
    release = await Publisher(world, ann).published("1.0.0")
    body = {"event": "installed", "releaseId": release["releaseId"], "platform": "windows", "clientId": "c"}
    await repeated(world.nobody(), "POST", EVENTS, body, 202)
    other = await world.nobody().ask("POST", EVENTS, {**body, "clientId": "d"}, headers=KEY)
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    for service in world.services:  # each writes what it has counted
        await job_named(world, "events of releases", at=service).run()
    (counted,) = (await ann.get("/v1/versions/events"))["items"]
    assert counted["count"] == 1


@in_one_world(
    ("method", "path", "body", "status"),
    [
        ("POST", "$server/tokens", {"scopes": ["server.status.write"], "ttlSeconds": 60}, 201),
        ("POST", "$server/permission-tokens", {"userId": "$ann"}, 201),
        ("POST", "/v1/social/party/server/lookup", {"playerIds": ["$ann"]}, 200),
        ("POST", "/v1/social/party/server/overview", {"actorId": "$ann"}, 200),
        ("POST", "/v1/social/friends/server/overview", {"actorId": "$ann"}, 200),
        ("PUT", "$server/publication/status", {"playerCount": 1, "playerCapacity": 2, "online": True}, 200),
    ],
)
async def test_servers_are_answered_alike(
    world: World, method: str, path: str, body: dict[str, object], status: int
) -> None:
    owner, ann = await world.players("Owner", "Ann")
    server = await claimed(world, owner)
    await server.seat(ann)
    filled = {
        name: ann.id if value == "$ann" else [ann.id] if value == ["$ann"] else value
        for name, value in body.items()
    }
    await repeated(server, method, path.replace("$server", server.path), filled, status)


@in_one_world("path", ["/v1/social/party", "/v1/social/party/leave", "$room/typing"])
async def test_another_body_is_another_request_also_where_bodies_are_not_read(
    world: World, path: str
) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    path = path.replace("$room", room.path)
    for body in (None, {"a": 1}):
        headers = {"idempotency-key": f"k-{body}".replace(" ", "")}
        first = await ann.ask("POST", path, body, headers=headers)
        again = await ann.ask("POST", path, body, headers=headers)
        assert (first.status_code, again.status_code) in {(200, 200), (204, 204)}
        assert again.headers["idempotent-replayed"] == "true"
        other = await ann.ask("POST", path, {"a": 2}, headers=headers)
        assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
