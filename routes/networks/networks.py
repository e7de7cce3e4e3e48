"""Networks, and the hosts that join them (service-api §4 Connect networks and hosts)."""

from functools import partial
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from actors.bounds import ruled, whole
from actors.connect.claim_keys import digest
from actors.connect.room import turn_of
from actors.errors import (
    Conflict,
    Invalid,
    JoinTokenExpired,
    JoinTokenUsed,
    NetworkInUse,
    NotFound,
    QuotaExceeded,
    RevisionConflict,
    SlugTaken,
)
from actors.ids import Uuid, new_epoch, new_uuid
from actors.networks import units_networks, units_removal
from actors.networks.public import Host, Network, host_of, network_of
from actors.networks.units_networks import JOIN_TOKEN_MS, MAX_NETWORKS, NetworkChange
from actors.networks.units_removal import LeftRecords
from actors.texts import line
from persistence.connect.rows import ServerRow
from persistence.networks import networks
from persistence.networks.rows import NetworkRow, ProfileMode, TokenRow
from routes.call import Call
from routes.changes import change
from routes.connect.parts import GAME_SERVERS
from routes.edge.declare.endpoint import endpoint
from routes.edge.identity.base64url import to_base64url
from routes.edge.pipeline.conditions import condition_of, etag_of
from routes.edge.principal import AUTHENTICATED, PUBLIC
from routes.edge.reply import Tagged
from routes.edge.wire import Wire
from routes.networks.automation import INLINE_SECONDS
from routes.networks.guards import owner_of_network
from routes.networks.name_service import NAME_SERVICE
from routes.networks.reactions import RemovalOf

MAX_NAME_CHARACTERS = 100
MAX_SUMMARY_CHARACTERS = 500
MAX_HOSTS_LISTED = 1_000

TOKEN_BYTES = 32
_NETWORKS = "/v1/connect/networks"
_ONE = _NETWORKS + "/{networkId}"

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200), ruled(maxLength=MAX_NAME_CHARACTERS)]


Slug = Annotated[str, msgspec.Meta(max_length=100), ruled(pattern=whole(units_networks.SLUG_FORM))]
ShareCode = Annotated[str, msgspec.Meta(max_length=100), ruled(pattern=whole(units_networks.CODE_FORM))]


class NewNetwork(Wire, frozen=True):
    """A network to create; `name` is 1 to 100 printable characters."""

    name: Name


class NetworkList(Wire, frozen=True):
    """The caller's networks, oldest first."""

    items: tuple[Network, ...]


class NetworkReply(Wire, frozen=True):
    """The network.

    Args:
        network: the network as it is now.
    """

    network: Network


class NetworkChangeBody(Wire, frozen=True):
    """Changes to a network; a field that is left out stays, null removes it.

    Args:
        slug: 3 to 32 of a-z, 0-9 and -; unique among networks.
        public_summary: at most 500 characters.
        public_profile_mode: `share_code` needs a share code.
    """

    name: Name | UnsetType = UNSET
    slug: Slug | UnsetType | None = UNSET
    public_summary: Annotated[str, msgspec.Meta(max_length=MAX_SUMMARY_CHARACTERS)] | UnsetType | None = UNSET
    public_profile_mode: ProfileMode | UnsetType = UNSET
    public_profile_share_code: ShareCode | UnsetType | None = UNSET


class JoinToken(Wire, frozen=True):
    """A join token, shown this once.

    Args:
        expires_in: lifetime in seconds.
    """

    join_token: str
    expires_in: int
    network_id: str


class JoinNetworkBody(Wire, frozen=True):
    """The token of the network to join, and the server's name of 1 to 100 printable characters."""

    join_token: Annotated[str, msgspec.Meta(max_length=100)]
    name: Name


class JoinedHost(Wire, frozen=True):
    """What a host must store: its id and its secret, which is shown this once.

    Args:
        server_id: for X-Server-Id.
        server_secret: for Authorization.
    """

    server_id: str
    server_secret: str
    network_id: str
    server_type: str
    name: str


class HostList(Wire, frozen=True):
    """The agents in the caller's networks, oldest first."""

    items: tuple[Host, ...]


@endpoint("GET", _NETWORKS, needs=AUTHENTICATED)
async def list_networks(call: Call) -> NetworkList:
    """The caller's networks."""
    rows = await call.service.database.read(networks.of_owner, call.user_id, MAX_NETWORKS)
    return NetworkList(tuple(network_of(row) for row in rows))


@endpoint("POST", _NETWORKS, needs=AUTHENTICATED, status=201, refusals=(NotFound, Invalid, QuotaExceeded))
async def create_network(call: Call, body: NewNetwork) -> NetworkReply:
    """Creates a network that the caller owns; a user owns 50 at most."""
    random_bytes = call.service.random_bytes
    row = NetworkRow(
        network_id=new_uuid(random_bytes),
        id=call.new_id(),
        name=_line(body.name),
        owner_id=call.user_id,
        created_at_ms=call.now_ms,
        updated_at_ms=call.now_ms,
    )
    return await change(call, units_networks.create, row, about=None, shape=_network_reply)


@endpoint("GET", _ONE, needs=AUTHENTICATED, refusals=(NotFound,), guard=owner_of_network)
async def read_network(call: Call, network_id: Uuid) -> Tagged[Network]:
    """One network, for its owner, with an `ETag` for changing it."""
    row = await call.service.database.read(networks.read, network_id)
    if row is None:
        raise NotFound
    return _tagged(row)


@endpoint(
    "PATCH",
    _ONE,
    needs=AUTHENTICATED,
    refusals=(NotFound, Invalid, RevisionConflict, SlugTaken),
    guard=owner_of_network,
)
async def change_network(call: Call, network_id: Uuid, body: NetworkChangeBody) -> Tagged[Network]:
    """Changes name, slug, and what the network shows publicly.

    For its owner. `If-Match` names the `ETag` of the network that the caller has changed; if that is not the current
    one, the answer is a 409 `REVISION_CONFLICT`. A slug of another network is a 409 as well.
    """
    wish = NetworkChange(
        name=_line(body.name) if isinstance(body.name, str) else UNSET,
        slug=body.slug,
        public_summary=body.public_summary,
        public_profile_mode=body.public_profile_mode,
        public_profile_share_code=body.public_profile_share_code,
    )
    unit = partial(units_networks.change, is_current=condition_of(call, network_of))
    return await change(call, unit, network_id, call.user_id, wish, call.now_ms, about=None, shape=_tagged)


@endpoint(
    "DELETE",
    _ONE,
    needs=AUTHENTICATED,
    refusals=(NotFound, Conflict, NetworkInUse, RevisionConflict),
    guard=owner_of_network,
)
async def remove_network(call: Call, network_id: Uuid) -> None:
    """Removes the network, with its tokens, domains, publication and articles.

    Its DNS provider and Discord settings go too. What users have saved of its publication stays as the address alone.
    For its owner. While game servers or hosts are in it, the answer is a 409 `NETWORK_IN_USE`, with their number in
    `meta.servers`. `If-Match` names the `ETag` of the network that the caller has seen; if that is not the current one,
    it is a `REVISION_CONFLICT`. While a moderator suppresses its publication, it is an `INVALID_STATE`. The
    DNS records that the service has made go as far as the provider answers within three seconds. Answers 204.
    """
    call.wait_longer(INLINE_SECONDS)
    unit = partial(units_removal.remove, is_current=condition_of(call, network_of))
    left: list[LeftRecords] = []
    async with call.service.turnstile.turn(turn_of(call.user_id)):
        # The answer is empty, and what is left is wanted here once the network is gone for sure.
        await change(call, unit, network_id, call.user_id, about=RemovalOf(network_id), shape=left.extend)
    await call.service.of(NAME_SERVICE).automation.remove_last(left)


@endpoint(
    "POST",
    _ONE + "/join-token",
    needs=AUTHENTICATED,
    status=201,
    secret_reply=True,
    refusals=(NotFound,),
    guard=owner_of_network,
)
async def issue_join_token(call: Call, network_id: Uuid) -> JoinToken:
    """Makes a token with which one server joins the network as its agent.

    For the network's owner. It is shown this once, can be used once, and is valid for ten minutes.
    """
    token = to_base64url(call.service.random_bytes(TOKEN_BYTES))
    row = TokenRow(digest(token), network_id, call.now_ms + JOIN_TOKEN_MS)
    made = JoinToken(token, JOIN_TOKEN_MS // 1000, network_id)
    return await change(call, units_networks.issue_token, row, about=None, shape=lambda _: made)


@endpoint(
    "POST",
    _NETWORKS + "/join",
    needs=PUBLIC,
    status=201,
    secret_reply=True,
    refusals=(NotFound, Invalid, JoinTokenUsed, JoinTokenExpired, QuotaExceeded),
)
async def join_network(call: Call, body: JoinNetworkBody) -> JoinedHost:
    """A server joins the network of the token, as its agent.

    The network's owner owns it at once. Answers its id and secret, shown this once. An unknown token is a 404; a
    used or expired one a 410.
    """
    random_bytes = call.service.random_bytes
    secret = to_base64url(random_bytes(TOKEN_BYTES))
    row = ServerRow(
        server_id=new_uuid(random_bytes),
        id=call.new_id(),
        server_type="agent",
        name=_line(body.name),
        secret=digest(secret),
        created_at_ms=call.now_ms,
        updated_at_ms=call.now_ms,
        last_seen_at_ms=call.now_ms,
    )

    def shape(joined: ServerRow) -> JoinedHost:
        return JoinedHost(joined.server_id, secret, str(joined.network_id), joined.server_type, joined.name)

    join = partial(units_networks.join, epoch=new_epoch(random_bytes), now_ms=call.now_ms)
    token = digest(body.join_token)
    network = await call.service.database.read(networks.of_token, token)
    if network is None:
        raise NotFound("no such join token")
    async with call.service.turnstile.turn(turn_of(network.owner_id)):
        return await change(call, join, token, row, about=f"servers of {network.owner_id}", shape=shape)


@endpoint("GET", "/v1/connect/hosts", needs=AUTHENTICATED)
async def list_hosts(call: Call) -> HostList:
    """The agents that have joined the caller's networks."""
    rows = await call.service.database.read(networks.hosts_of, call.user_id, MAX_HOSTS_LISTED)
    last_seen = call.service.of(GAME_SERVERS).credentials.last_seen
    return HostList(tuple(host_of(row, last_seen(row.server_id)) for row in rows))


def _tagged(row: NetworkRow) -> Tagged[Network]:
    shown = network_of(row)
    return Tagged(shown, etag_of(shown))


def _network_reply(row: NetworkRow) -> NetworkReply:
    return NetworkReply(network_of(row))


def _line(name: str) -> str:
    return line(name.strip(), "/name", MAX_NAME_CHARACTERS)
