"""Wire: every route about people × everybody who may come (reliability §3, A1). Who passes is said by the table of
routes (`tests/contract/endpoints.csv`), and what roles hold by contract §2."""

import csv

import pytest

from tests.connect.play import claimed
from tests.contract.sources import ROOT
from tests.support.one_world import in_one_world
from tests.support.world import Player, World

AREAS = {"admin", "moderation", "profile", "public", "saved-servers", "totem", "capes", "ip"}

# {role: the nodes of these areas that it gives}
HELD = {
    "user": set[str](),
    "moderator": {"capes:moderate"},
    "admin": {"admin:user:view", "ip:geo.read"},
    "super-admin": {"capes:moderate", "admin:user:view", "ip:geo.read"},
}
NODES = HELD["super-admin"]
ABSENT = {"totem:read", "totem:write"}
"""Nodes that grant while nobody has put them into the catalog."""

NAMES = {
    "itemModelId": "0" * 24, "serverId": "0" * 24, "id": "00000000-0000-4000-8000-000000000001",
    "userId": "00000000-0000-4000-8000-000000000001", "node": "a:b", "code": "0000-0000-0000",
    "identifier": "Nobody", "role": "moderator",
    "noteId": "0" * 24,
}  # fmt: skip

with (ROOT / "tests" / "contract" / "endpoints.csv").open(newline="", encoding="utf-8") as file:
    ROWS = [row for row in csv.DictReader(file) if row["area"] in AREAS]


async def verdict(player: Player, row: dict[str, str]) -> int:
    """401 or 403 where the gate refuses, else 200: what comes of the request does not matter here."""
    path = row["path"].format(**NAMES)
    answer = await player.ask(row["method"], path, None if row["method"] in {"GET", "DELETE"} else {})
    if answer.status_code == 401:
        assert "bearer" in answer.headers["www-authenticate"].lower()
        return 401
    if answer.status_code == 403 and answer.json()["code"] == "FORBIDDEN":
        assert answer.json()["meta"].get("permission") or row["auth"] in {"super-admin", "moderator"}
        return 403
    assert answer.status_code != 429
    assert answer.status_code < 500 or row["path"] == "/v1/ip/geo"
    return 200


async def compare(player: Player, wanted: dict[str, int]) -> None:
    for service in player.world.services:
        service.limits.enabled = False
    """Ask every route, and hold the answers against {method path: verdict}."""
    assert {f"{row['method']} {row['path']}": await verdict(player, row) for row in ROWS} == wanted


def by_nodes(held: set[str], *, moderator: bool = False, super_admin: bool = False) -> dict[str, int]:
    """What somebody with a token is answered."""
    wanted = {}
    for row in ROWS:
        node = row["permission"]
        roles = {"super-admin": super_admin, "moderator": moderator}
        passes = roles.get(row["auth"], not node or node in held)
        wanted[f"{row['method']} {row['path']}"] = 200 if passes else 403
    return wanted


def without_token() -> dict[str, int]:
    return {f"{row['method']} {row['path']}": 200 if row["auth"] == "none" else 401 for row in ROWS}


@pytest.mark.both_edges
@in_one_world("role", HELD)
async def test_each_role_passes_where_its_nodes_say(world: World, role: str) -> None:
    ann = await world.player("Ann")
    if role != "user":
        await world.promote(ann, role)
    await compare(
        ann, by_nodes(HELD[role] | ABSENT, moderator=role != "user", super_admin=role == "super-admin")
    )


@pytest.mark.parametrize("node", sorted(NODES | ABSENT))
async def test_a_node_opens_its_routes_and_no_others(world: World, node: str) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await world.grant(ann, node)
    await compare(ann, by_nodes({node} | ABSENT))
    # Whoever lacks it: from now on it is in the catalog, whatever it was before.
    await compare(ben, by_nodes(ABSENT - {node}))


@pytest.mark.both_edges
async def test_without_a_token_that_holds(world: World) -> None:
    ann = await world.player("Ann")
    for token in ("nonsense", world.token(ann.id, "Ann", ttl_seconds=-5), str(ann.token)[:-2]):
        await compare(Player(world, ann.id, "Ann", token), without_token())
        world.clock.advance(60_000)
    await compare(world.nobody(), without_token())


async def test_game_servers_come_for_addresses_alone(world: World) -> None:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    geo = "GET /v1/ip/geo"
    token = await server.delegated("server.status.write")
    await compare(server, {**without_token(), geo: 403})
    await compare(token, {**without_token(), geo: 403})
    await world.grant(ann, "ip:geo.read")
    world.clock.advance(60_000)
    await compare(server, {**without_token(), geo: 200})
    # An owner's rights are not those of a token of the server's.
    assert await token.refused("GET", "/v1/ip/geo") == (403, "FORBIDDEN")
