"""One game server, its network, and everybody who might ask for something of it: the columns of `matrix.csv`."""

import json
import secrets
from dataclasses import dataclass

from actors.connect.access import SCOPES
from actors.ids import new_object_id
from routes.connect.parts import GAME_SERVERS
from routes.connect.tokens import mint_delegated, mint_permissions
from routes.edge.identity.base64url import to_base64url
from routes.edge.identity.keys import USER_AUDIENCE, USER_TYPE, Keys
from tests.connect.play import GameServer, register
from tests.friends.play import make_friends
from tests.networks.play import Net, Place, network
from tests.support.world import Player, World
from tests.users.play import erase

CATALOG = "/v1/connect/extensions"
HOUR_MS = 3_600_000
NODES = tuple(
    f"connect:{what}:{how}" for what in ("commands", "settings", "members") for how in ("read", "write")
)


@dataclass(frozen=True)
class People:
    """The users of all scenes of a place."""

    owner: Player
    neighbour: Player
    stranger: Player
    friend: Player
    blocked: Player
    moderator: Player
    staff: Player
    root: Player
    erased: Player
    viewer: Player
    operator: Player
    admin: Player
    extended: Player
    nodeless: Player
    left: Player
    invitee: Player
    player: Player

    @classmethod
    async def of(cls, world: World) -> "People":
        """All of them, new."""
        owner, neighbour, stranger, friend, blocked, erased, player = await world.players(
            "Owner", "Neighbour", "Stranger", "Friend", "Blocked", "Erased", "Player"
        )
        await make_friends(owner, friend)
        await world.block(owner, blocked)
        root = await erase(world, erased)
        names = ("Viewer", "Operator", "Admin", "Extended", "Nodeless", "Left", "Invitee")
        viewer, operator, admin, extended, nodeless, left, invitee = await world.players(*names)
        for node in NODES:
            await world.grant(nodeless, node, negated=True)
        return cls(
            viewer=viewer,
            operator=operator,
            admin=admin,
            extended=extended,
            nodeless=nodeless,
            left=left,
            invitee=invitee,
            owner=owner,
            neighbour=neighbour,
            stranger=stranger,
            friend=friend,
            blocked=blocked,
            moderator=await world.ranked("Mod", "moderator"),
            staff=await world.ranked("Staff", "admin"),
            root=root,
            erased=erased,
            player=player,
        )


class Scene:
    """A server of the owner's in a network of theirs, one of the neighbour's in a network beside it, and one of nobody.

    Args:
        place: the service, and the DNS that it asks.
        people: who are there.
    """

    server: GameServer
    unclaimed: GameServer
    other: GameServer
    net: Net
    extension: str
    invitation: str
    principals: dict[str, Player]

    def __init__(self, place: Place, people: People) -> None:
        self.place = place
        self.world = place.world
        self.people = people

    @classmethod
    async def of(cls, place: Place, people: People) -> "Scene":
        """A fresh one."""
        self = cls(place, people)
        owner, neighbour = people.owner, people.neighbour
        self.net = await network(owner, "Sky")
        beside = await network(neighbour, "Sea")
        first = await self.net.server("Lobby")
        second, third = [await _rotated(first, owner) for _ in range(2)]
        self.server = third
        self.other = await beside.server("Other")
        self.unclaimed = await register(self.world, "Free")
        await self._fill()
        self.extension = f"shop-{secrets.token_hex(4)}"
        made = {"extensionId": self.extension, "name": "Shop"}
        await owner.do("POST", CATALOG, made, status=201)
        self.principals = {
            **_tokens(self.world, owner, self.server),
            **{name: getattr(people, name) for name in People.__annotations__ if name != "player"},
            "own": self.server,
            "former": second,
            "ended": first,
            **_delegates(self.world, self.server, people.player),
            "unclaimed": self.unclaimed,
            "other": self.other,
            "mixed": self.server.bearing(self.other.secret),
            "owner_as_server": self.server.bearing(str(owner.token)),
            "agent": await self.net.host("Node"),
            "far_agent": await beside.host("Far"),
        }
        return self

    async def _fill(self) -> None:
        """Let people belong to the server."""
        people = self.people
        roles: dict[Player, tuple[str, tuple[str, ...]]] = {
            people.viewer: ("viewer", ()),
            people.operator: ("operator", ()),
            people.admin: ("admin", ()),
            people.extended: ("viewer", ("server.members.write", "server.publication.write")),
            people.nodeless: ("admin", ()),
            people.left: ("admin", ()),
        }
        for player, (role, capabilities) in roles.items():
            body = {"role": role, "capabilities": capabilities}
            await people.owner.do("PUT", f"{self.server.path}/members/{player.id}", body, status=200)
        await people.left.do("DELETE", f"{self.server.path}/members/{people.left.id}", status=204)
        self.invitation = await self.invite(people.invitee)

    async def invite(self, player: Player) -> str:
        """The id of an invite for somebody who does not belong to the server."""
        body = {"inviteeUserId": player.id, "role": "viewer"}
        made = await self.people.owner.do("POST", f"{self.server.path}/invites", body, status=201)
        return str(made["id"])

    def new_id(self) -> str:
        """An object id that nothing has."""
        return new_object_id(self.world.clock.now_ms(), secrets.token_bytes)

    def narrowed(self, scope: str) -> GameServer:
        """The server with a token for everything but this."""
        scopes = SCOPES - {scope} if scope else frozenset({min(SCOPES)})
        return _delegate(self.world, self.server, scopes)


class Bearer(Player):
    """Somebody who sends these headers and this query, whatever they are worth."""

    def __init__(self, world: World, token: str | None = None, query: str = "", protocol: str = "") -> None:
        super().__init__(world, "", "", token)
        self.query = query
        self.protocol = protocol


async def _rotated(server: GameServer, owner: Player) -> GameServer:
    made = await owner.do("POST", f"{server.path}/secret/rotate", status=200)
    return server.bearing(made["serverSecret"])


def _tokens(world: World, owner: Player, server: GameServer) -> dict[str, Player]:
    """Those who bring nothing, or something that is no token of a user's."""
    keys, now_ms = world.service.keys, world.clock.now_ms()
    claims = {"sub": owner.id, "name": owner.name, "jti": "1"}

    def minted(type: str, audience: str, at_ms: int) -> str:
        return keys.mint(type, audience, claims, now_ms=at_ms, ttl_seconds=3600).token

    token = str(owner.token)
    return {
        "nobody": world.nobody(),
        "malformed": Bearer(world, "a.b.c"),
        "expired": Bearer(world, minted(USER_TYPE, USER_AUDIENCE, now_ms - 2 * HOUR_MS)),
        "audience": Bearer(world, minted(USER_TYPE, "partyline:other", now_ms)),
        "unsigned": Bearer(world, _unsigned(keys, token)),
        "secret": Bearer(world, server.secret),
        "query": Bearer(world, query=f"access_token={token}"),
        "protocol": Bearer(world, protocol=token),
    }


def _unsigned(keys: Keys, token: str) -> str:
    head = to_base64url(json.dumps({"alg": "none", "typ": USER_TYPE, "kid": keys.key_id}).encode())
    return f"{head}.{token.split('.')[1]}."


def _delegates(world: World, server: GameServer, player: Player) -> dict[str, Player]:
    """The server with what it was given for others, or for a time."""
    keys, now_ms = world.service.keys, world.clock.now_ms()
    permissions = mint_permissions(
        keys, server.id, player.id, [], now_ms=now_ms, random_bytes=secrets.token_bytes
    )
    return {
        "delegated": _delegate(world, server, SCOPES),
        "lapsed": _delegate(world, server, SCOPES, ago_ms=2 * HOUR_MS),
        "permission": server.bearing(permissions.token),
    }


def _delegate(world: World, server: GameServer, scopes: frozenset[str], *, ago_ms: int = 0) -> GameServer:
    row = world.service.of(GAME_SERVERS).credentials.peek(server.id)
    assert row is not None
    minted = mint_delegated(
        world.service.keys,
        server.id,
        scopes,
        row.secret_number,
        now_ms=world.clock.now_ms() - ago_ms,
        ttl_seconds=900,
        random_bytes=secrets.token_bytes,
    )
    return server.bearing(minted.token)
