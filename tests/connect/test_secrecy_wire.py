"""Secrets and rights that end: replies that are kept are sealed, and what an owner loses, their servers lose."""

from tests.connect.play import SERVERS, claimed
from tests.support.canaries import dump, found
from tests.support.waiting import patience
from tests.support.websocket import connect
from tests.support.world import World


async def test_the_database_holds_hashes_only(world: World):
    """Replies under an Idempotency-Key too: those that hold a secret are sealed."""
    ann, bob = await world.players("Ann", "Bob")
    made = await world.nobody().ask(
        "POST",
        f"{SERVERS}/register",
        {"serverType": "paper", "serverName": "x"},
        headers={"idempotency-key": "sealed"},
    )
    server = await claimed(world, ann)
    headers = {"idempotency-key": "sealed-ticket"}
    ticket = (await bob.ask("POST", f"{server.path}/join-tickets", headers=headers)).json()["ticket"]
    secrets = {server.secret, server.claim_key, ticket, made.json()["serverSecret"]}

    kept = await world.service.database.read(dump)
    assert found(secrets, kept) == []


async def test_the_owners_right_ends_at_once(world: World):
    """A grant to the owner opens, and taking it away closes, without another word of the server's."""
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    body = {"userId": bob.id}
    path = f"{server.path}/permission-tokens"
    assert await server.refused("POST", path, body) == (403, "FORBIDDEN")
    await world.grant(ann, "connect:social.act")
    made = await server.do("POST", path, body, status=201)
    assert "connect:commands:read" in made["permissions"]
    token = made["token"]
    assert (
        await world.nobody().ask("GET", SERVERS, headers={"authorization": f"Bearer {token}"})
    ).status_code == 401
    assert await server.bearing(token).refused("POST", path, body) == (401, "BAD_SERVER_CREDENTIALS")
    await world.grant(ann, "connect:social.act", negated=True)
    assert await server.refused("POST", path, body) == (403, "FORBIDDEN")


async def test_secrets_in_payloads_are_for_the_server_alone(world: World):
    ann, bob = await world.players("Ann", "Bob")
    await ann.do("POST", "/v1/connect/extensions", {"extensionId": "ftp", "name": "FTP"}, status=201)
    server = await claimed(world, ann)
    await ann.do("PUT", f"{server.path}/members/{bob.id}", {"role": "viewer"}, status=200)
    fields = [{"key": "host", "type": "string"}, {"key": "password", "type": "secret"}]
    actions = [{"id": "mount", "label": "Mount", "schema": {"version": "1", "fields": fields}}]
    await server.do("PUT", f"{server.path}/extensions/ftp", {"actions": actions}, status=200)
    given = {"host": "a.test", "password": "hunter2", "more": 1}
    masked = {**given, "password": "********"}
    path = f"{server.path}/commands"
    stream = f"{server.path}/stream"
    its_own = connect(world.url + stream, token=server.token, headers=[("x-server-id", server.id)])
    async with bob.live(stream) as live, its_own as own:
        with patience():
            for one in (live, own):
                assert (await one.receive_json())["type"] == "settings_snapshot"
        made = (await ann.do("POST", path, {"action": "mount", "payload": given}, status=201))["command"]
        assert made["payload"] == masked
        with patience():
            assert (await live.receive_json())["command"]["payload"] == masked
            assert (await own.receive_json())["command"]["payload"] == given
    ended = await server.do("POST", f"{path}/{made['id']}/ack", {"status": "success"}, status=200)
    assert ended["command"]["payload"] == masked, "nobody needs it any more"
    assert [one["payload"] for one in (await bob.get(path))["items"]] == [masked]
    assert [one["payload"] for one in (await server.get(f"{path}?status=success"))["items"]] == [masked]
    assert found({"hunter2"}, await world.service.database.read(dump)) == []
    again = await ann.ask("POST", path, {"action": "mount", "payload": made["payload"]})
    assert again.status_code == 422, "the mask is no value"
    (error,) = again.json()["errors"]
    assert (error["pointer"], error["code"]) == ("/payload/password", "NOT_ALLOWED")
    empty = (await ann.do("POST", path, {"action": "mount", "payload": {"host": "b"}}, status=201))["command"]
    assert empty["payload"] == {"host": "b"}
