"""Game servers: registering, claiming, listing, changing and removing them (service-api §4 Connect servers)."""

import re
from functools import partial
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from actors.bounds import ShortText, UuidText, ruled, whole
from actors.connect.claim_keys import digest, new_claim_key, parse_claim_key
from actors.connect.commands import ChangeServer, Claim, RemoveServer
from actors.connect.public import Server
from actors.connect.public_own import OwnServer
from actors.connect.room import require_room, turn_of
from actors.connect.rules import CLAIM_KEY_MS
from actors.connect.units import register
from actors.errors import ClaimKeyExpired, ClaimKeyUsed, Conflict, Forbidden, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.id_fields import uuid_in
from actors.ids import Uuid, new_epoch, new_uuid, parse_uuid
from actors.networks.units_networks import require_place
from actors.texts import line_flaws
from persistence.connect import own, servers
from persistence.connect.rows import ClaimKeyRow, ServerRow
from persistence.networks import networks
from routes.call import Call
from routes.changes import change
from routes.connect.guards import owner_of
from routes.connect.own_servers import OWN_SERVERS
from routes.connect.parts import GAME_SERVERS
from routes.edge.declare.endpoint import endpoint
from routes.edge.identity.base64url import to_base64url
from routes.edge.principal import AUTHENTICATED, PUBLIC
from routes.edge.reply import Ask
from routes.edge.wire import Wire
from routes.rates import REGISTER

MAX_NAME_CHARACTERS = 100
MAX_TEMPLATE_CHARACTERS = 64
SECRET_BYTES = 32
_SERVERS = "/v1/connect/servers"
_ONE = _SERVERS + "/{serverId}"
_TYPE = re.compile(r"[a-z0-9_-]{1,32}", re.ASCII)


class NewServer(Wire, frozen=True):
    """A server that registers itself.

    Args:
        server_type: 1 to 32 of a-z, 0-9, `_`, `-`; not `agent`, which is the type of servers that join a network.
        server_name: 1 to 100 printable characters.
        template_id: a template server; if the owner of that one claims this server, it is set up like it.
        temp_instance: whether it is removed once it has been silent for a day, even when claimed.
    """

    server_type: Annotated[ShortText, ruled(pattern=whole(_TYPE))]
    server_name: Annotated[ShortText, ruled(minLength=1, maxLength=MAX_NAME_CHARACTERS)]
    template_id: Annotated[str, msgspec.Meta(max_length=MAX_TEMPLATE_CHARACTERS)] | None = None
    temp_instance: bool = False


class RegisteredServer(Wire, frozen=True):
    """What a server must store: its id and its secret, which is shown this once.

    Args:
        server_id: for X-Server-Id.
        server_secret: for Authorization.
        claim_key: to be shown to the future owner; valid for five minutes, for one use.
        network_name: always null: a new server is in no network.
    """

    server_id: str
    server_secret: str
    network_id: None
    claim_key: str
    server_type: str
    server_name: str
    network_name: None


class ServersQuery(Wire, frozen=True):
    """Which servers.

    Args:
        member: whether servers are listed too that the caller is a member of.
    """

    member: bool = False


class ServerList(Wire, frozen=True):
    """The servers that the caller has claimed, and those that they are a member of, if asked for; oldest first."""

    items: tuple[OwnServer, ...]


class ClaimBody(Wire, frozen=True):
    """The claim key as the server shows it; case, spaces and dashes are ignored.

    Args:
        claim_key: the key that the server shows.
    """

    claim_key: Annotated[str, msgspec.Meta(max_length=100)]


class ServerReply(Wire, frozen=True):
    """The claimed server.

    Args:
        server: the server as it is now.
    """

    server: Server


class ServerChange(Wire, frozen=True):
    """Changes to a server; a field that is left out stays.

    Args:
        network_id: one of the caller's networks, or null for none.
        is_template: whether other servers may be set up like it.
    """

    network_id: UuidText | UnsetType | None = UNSET
    is_template: bool | UnsetType = UNSET


@endpoint(
    "POST",
    _SERVERS + "/register",
    needs=PUBLIC,
    status=201,
    rate=REGISTER,
    secret_reply=True,
    refusals=(Invalid, QuotaExceeded),
)
async def register_server(call: Call, body: NewServer) -> RegisteredServer:
    """Registers a game server.

    Answers its id and secret, shown this once, and a claim key that is valid for five minutes. Until a user has claimed
    it, it can store nothing, and act for no player; it is removed after 24 h of silence. There are 10,000 unclaimed
    servers at most in all (`PARTYLINE_MAX_UNCLAIMED_SERVERS`).
    """
    name = body.server_name.strip()
    _check(body.server_type, name)
    random_bytes = call.service.random_bytes
    server_id = new_uuid(random_bytes)
    secret = to_base64url(random_bytes(SECRET_BYTES))
    key = new_claim_key(random_bytes)
    row = ServerRow(
        server_id=server_id,
        id=call.new_id(),
        server_type=body.server_type,
        name=name,
        template_id=body.template_id and (parse_uuid(body.template_id) or body.template_id),
        temporary=body.temp_instance,
        secret=digest(secret),
        created_at_ms=call.now_ms,
        updated_at_ms=call.now_ms,
        last_seen_at_ms=call.now_ms,
    )
    create = partial(register, epoch=new_epoch(random_bytes))
    claim_key = ClaimKeyRow(digest(key), server_id, call.now_ms + CLAIM_KEY_MS)
    made = RegisteredServer(server_id, secret, None, key, body.server_type, name, None)
    most = call.service.config.max_unclaimed_servers
    return await change(call, create, row, claim_key, most, about=None, shape=lambda _: made)


@endpoint("GET", _SERVERS, needs=AUTHENTICATED)
async def list_servers(call: Call, query: ServersQuery) -> ServerList:
    """The servers that the caller has claimed, with their access, status, and whether they listen.

    With `member=true` also those that the caller is a member of, 1,000 of them at most. The channel `servers` tells of
    changes.
    """
    now = call.service.of(OWN_SERVERS).now
    rows = await call.service.database.read(own.of_user, call.user_id)
    return ServerList(tuple(now.shown(row) for row in rows if query.member or row.role is None))


@endpoint(
    "POST",
    _SERVERS + "/claim",
    needs=AUTHENTICATED,
    refusals=(NotFound, ClaimKeyUsed, ClaimKeyExpired, QuotaExceeded),
)
async def claim_server(call: Call, body: ClaimBody) -> ServerReply:
    """The caller becomes the owner of the server that shows this key.

    An unknown key is a 404; a used or expired one a 410. A user owns 1,000 servers at most.
    """
    key = parse_claim_key(body.claim_key)
    digested = digest(key or "")
    server_id = None
    if key is not None:
        server_id = await call.service.database.read(servers.server_of_claim_key, digested)
    if server_id is None:
        raise NotFound("no such claim key")
    command = Claim(call.user_id, digested, call.user.name)
    async with call.service.turnstile.turn(turn_of(call.user_id)):
        await call.service.database.read(require_room, call.user_id)
        return await call.ask(call.service.of(GAME_SERVERS).server, server_id, command, ServerReply)


@endpoint(
    "PATCH",
    _ONE,
    needs=AUTHENTICATED,
    refusals=(NotFound, Forbidden, Conflict, QuotaExceeded),
    guard=owner_of,
)
async def change_server(call: Call, server_id: Uuid, body: ServerChange) -> Server:
    """Changes the server's network, and whether it is a template.

    For its owner. An unknown network, or one of another user, is a 404; a network has 1,000 servers at most. Taking an
    agent out of its network is a 409. With the network that it leaves goes the server's gateway route, unless that lies
    below the gateway domain. An address that it has published inside a verified domain of its new network is OWNED from
    then on; one that only the former network has proven is LOST within a minute.
    """
    network_id = body.network_id
    if isinstance(network_id, str):
        network_id = await _own_network(call, network_id)
    elif network_id is None and call.subject.server_type == "agent":
        raise Conflict("an agent is in a network as long as it is there")
    command = ChangeServer(call.user_id, network_id=network_id, is_template=body.is_template)
    async with call.service.turnstile.turn(turn_of(call.user_id)):
        if isinstance(network_id, str) and network_id != call.subject.network_id:
            await call.service.database.read(require_place, network_id)
        changed: Server = await call.ask(call.service.of(GAME_SERVERS).server, server_id, command)
    return changed


@endpoint("DELETE", _ONE, needs=AUTHENTICATED, refusals=(NotFound, Forbidden), guard=owner_of)
def remove_server(call: Call, server_id: Uuid) -> Ask[None]:
    """Removes the server. Its secret, tokens and sessions end at once.

    For its owner.
    """
    return call.ask(call.service.of(GAME_SERVERS).server, server_id, RemoveServer(call.user_id))


async def _own_network(call: Call, network_id: str) -> str:
    """The id, checked to be of a network of the caller; networks keep their owner, so it still is in the turn."""
    network = await call.service.database.read(networks.read, uuid_in(network_id, "/networkId"))
    if network is None or network.owner_id != call.user_id:
        raise NotFound("no such network")
    return network.network_id


def _check(server_type: str, name: str) -> None:
    errors = []
    if _TYPE.fullmatch(server_type) is None:
        errors.append(FieldError("/serverType", "BAD_FORMAT", "1 to 32 of a-z, 0-9, _ and -"))
    if server_type == "agent":
        errors.append(FieldError("/serverType", "NOT_ALLOWED", "an agent joins a network"))
    errors += line_flaws(name, "/serverName", MAX_NAME_CHARACTERS)
    if errors:
        raise Invalid(*errors)
