"""What is secret is shown once: canaries in no log, error, metric or list, and in the database as hashes only."""

import pytest

from tests.connect.play import SERVERS, claimed
from tests.support.world import World


async def test_no_secret_leaves_again(world: World, capfd: pytest.CaptureFixture[str]):
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    ticket = (await bob.do("POST", f"{server.path}/join-tickets", status=201))["ticket"]
    await server.do("POST", f"{server.path}/sessions", {"ticket": ticket}, status=201)
    delegated = await server.delegated("server.social.act")
    rotated = (await ann.do("POST", f"{server.path}/secret/rotate"))["serverSecret"]
    canaries = {server.secret, server.claim_key, ticket, delegated.secret, rotated}
    nobody = world.nobody()
    answers = [
        await ann.ask("GET", SERVERS),
        await ann.ask("POST", f"{SERVERS}/claim", {"claimKey": server.claim_key}),
        await server.ask("POST", f"{server.path}/sessions", {"ticket": ticket}),
        await server.ask("GET", f"{server.path}/claim-key"),
        await server.ask("GET", SERVERS),
        await delegated.ask("GET", f"{server.path}/claim-key"),
        await server.bearing(f"{rotated}x").ask("GET", f"{server.path}/claim-key"),
        await nobody.ask("GET", f"{server.path}/claim-key?token={server.secret}"),
        await nobody.ask("GET", "/metrics"),
        await nobody.ask("GET", "/openapi.json"),
        await (await world.super_admin()).ask("GET", "/v1/admin/actors"),
    ]
    for answer in answers:
        assert not any(canary in answer.text for canary in canaries), answer.request.url
    logged = "".join(capfd.readouterr())
    assert not any(canary in logged for canary in canaries)


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

    async def dump(conn: object) -> str:
        tables = [
            "connect_servers",
            "connect_claim_keys",
            "connect_tickets",
            "receipts",
            "snapshots",
            "heads",
        ]
        rows = [await conn.fetch(f"SELECT * FROM {table}") for table in tables]  # type: ignore[attr-defined]
        return repr([[list(row.values()) for row in found] for found in rows])

    kept = await world.service.database.read(dump)
    assert not any(secret in kept for secret in secrets)


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
