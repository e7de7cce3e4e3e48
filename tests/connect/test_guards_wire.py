"""What a guard reads: who somebody is to the server, and nothing else of it."""

from pathlib import Path

from tests.connect.play import claimed
from tests.support.database import run_sql
from tests.support.world import open_world

HEAVY = (
    "connect_settings",
    "connect_commands",
    "connect_registrations",
    "connect_invites",
    "connect_sessions",
)


async def test_a_guard_never_loads_the_server_of_a_stranger(database_url: str, tmp_path: Path):
    """While the server's other tables cannot be read at all, everybody is still told what they are to it."""
    async with open_world(database_url, tmp_path) as world:
        ann, bob, eve = await world.players("Ann", "Bob", "Eve")
        server = await claimed(world, ann)
        await ann.do("PUT", f"{server.path}/members/{bob.id}", {"role": "viewer"}, status=200)
    async with open_world(database_url, tmp_path) as world:
        for player in (bob, eve):
            player.world = world
        for table in HEAVY:
            run_sql(database_url, f"ALTER TABLE {table} RENAME TO {table}_away")
        published = f"/v1/connect/publications/server/{server.id}"
        for method, path, body in (
            ("GET", f"{server.path}/settings", None),
            ("PUT", f"{server.path}/settings", {"data": {}}),
            ("POST", f"{server.path}/commands", {"action": "a"}),
            ("GET", f"{server.path}/members", None),
            ("PATCH", server.path, {}),
            ("DELETE", f"{server.path}/members/{eve.id}", None),
            ("GET", published, None),
            ("PUT", published, {"address": "play.example.org", "displayName": "Sky"}),
        ):
            assert await eve.refused(method, path, body) == (404, "NOT_FOUND"), path
        for method, path, body in (
            ("PUT", f"{server.path}/settings", {"data": {}}),
            ("POST", f"{server.path}/commands", {"action": "a"}),
            ("PATCH", server.path, {}),
            ("PUT", published, {"address": "play.example.org", "displayName": "Sky"}),
        ):
            assert await bob.refused(method, path, body) == (403, "FORBIDDEN"), path
        for table in HEAVY:
            run_sql(database_url, f"ALTER TABLE {table}_away RENAME TO {table}")
