"""Secrets and rights that end: replies that are kept are sealed, and what an owner loses, their servers lose."""

from tests.connect.play import SERVERS, claimed
from tests.support.canaries import dump, found
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
