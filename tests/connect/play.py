"""Game servers for tests: registered and claimed over the wire, with their own headers."""

from typing import Any

from persistence.connect.rows import CommandRow, ServerRow
from persistence.connection import Connection
from tests.support.database import run_sql
from tests.support.waiting import wait_until
from tests.support.world import Player, World

SERVERS = "/v1/connect/servers"


class GameServer(Player):
    """A registered game server; it makes requests as players do, with its own credentials.

    Args:
        made: the answer to registering it.
    """

    def __init__(self, world: World, made: dict[str, Any]) -> None:
        super().__init__(world, made["serverId"], made["serverName"], made["serverSecret"])
        self.claim_key: str = made["claimKey"]
        self.secret: str = made["serverSecret"]
        self.path = f"{SERVERS}/{self.id}"
        self.headers["x-server-id"] = self.id

    def bearing(self, token: str) -> "GameServer":
        """The same server with another secret or token."""
        made = {
            "serverId": self.id,
            "serverName": self.name,
            "serverSecret": token,
            "claimKey": self.claim_key,
        }
        return GameServer(self.world, made)

    def at(self, world: World) -> "GameServer":
        """The same server as a client of another node."""
        other = self.bearing(self.secret)
        other.world = world
        return other

    async def delegated(self, *scopes: str, **more: object) -> "GameServer":
        """The same server with a delegated token for these scopes."""
        made = await self.do("POST", f"{self.path}/tokens", {"scopes": scopes, **more}, status=201)
        return self.bearing(made["token"])

    async def seat(self, player: Player) -> Any:
        """Let a player in, by a ticket of theirs; returns the session."""
        ticket = await player.do("POST", f"{self.path}/join-tickets", status=201)
        return await self.do("POST", f"{self.path}/sessions", {"ticket": ticket["ticket"]}, status=201)


async def register(world: World, name: str = "Lobby", **more: object) -> GameServer:
    """Register a game server, which nobody has claimed."""
    body = {"serverType": "paper", "serverName": name, **more}
    return GameServer(world, await world.nobody().do("POST", f"{SERVERS}/register", body, status=201))


async def break_server(world: World, server_id: str) -> None:
    """Put something unreadable into a row of a game server, so that it cannot be loaded any more."""

    async def odd(conn: Connection) -> None:
        await conn.execute(
            "INSERT INTO connect_extensions VALUES ('odd', $1, '', '', NULL, 'public', 0, 0) ON CONFLICT DO NOTHING",
            "0" * 24,
        )
        await conn.execute(
            "INSERT INTO connect_registrations VALUES ($1, 'odd', '', '', 1, '?', 0, 0)", server_id
        )

    await world.service.database.transact(odd)


async def claimed(world: World, owner: Player, name: str = "Lobby", **more: object) -> GameServer:
    """Register a game server, and claim it for a user."""
    server = await register(world, name, **more)
    await owner.do("POST", f"{SERVERS}/claim", {"claimKey": server.claim_key}, status=200)
    return server


def fill(database_url: str, owner: Player, count: int, network_id: str | None = None) -> None:
    """Give a user so many more game servers, as rows that no agent uses."""
    within = "NULL" if network_id is None else f"'{network_id}'"
    run_sql(
        database_url,
        "INSERT INTO connect_servers (server_id, id, server_type, name, owner_id, network_id, secret, created_at_ms,"
        " updated_at_ms, last_seen_at_ms)"
        f" SELECT gen_random_uuid()::text, lpad(to_hex(at), 24, '0'), 'paper', 'x', '{owner.id}', {within},"
        f" decode(repeat('00', 32), 'hex'), 0, 0, 0 FROM generate_series(1, {count}) AS at",
    )


NOW = 1_700_000_000_000


TTL_MS = 300_000


OWNER, STRANGER, ID = "owner", "stranger", "c" * 24


ROW = ServerRow(
    server_id="server",
    id="0" * 24,
    server_type="paper",
    name="Lobby",
    owner_id=OWNER,
    secret=bytes(32),
    created_at_ms=NOW,
    updated_at_ms=NOW,
    last_seen_at_ms=NOW,
)


PENDING = CommandRow(
    id=ID,
    server_id="server",
    action="a",
    payload=b"{}",
    status="pending",
    created_by=OWNER,
    created_at_ms=NOW,
    updated_at_ms=NOW,
    expires_at_ms=NOW + TTL_MS,
)


FRIENDS = "/v1/social/friends/server"


class Lines:
    """The lines that an agent prints."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def wait_for(self, beginning: str, count: int = 1) -> str:
        """Wait until `count` lines begin with a text; returns the rest of the first one."""

        async def said() -> bool:
            return sum(line.startswith(beginning) for line in self.lines) >= count

        await wait_until(said)
        return next(line for line in self.lines if line.startswith(beginning)).removeprefix(beginning).strip()


async def order(owner: Player, server_id: str, action: str, **payload: object) -> Any:
    """Give a command, and wait until it has ended; returns it."""
    response = await owner.ask(
        "POST",
        f"/v1/connect/servers/{server_id}/commands",
        {"action": action, "payload": payload},
        headers={"prefer": "wait=10"},
    )
    assert response.status_code == 200, response.text
    return response.json()["command"]
