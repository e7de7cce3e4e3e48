"""How a voice node proves who it is: by its own secret, or by that of the server that has registered it."""

from hmac import compare_digest

from actors.connect.access import ServerAccess
from actors.errors import NotFound
from actors.ids import ObjectId
from actors.voice.fleet import Node
from routes.call import Call
from routes.connect.guards import require_secret
from routes.connect.parts import GAME_SERVERS
from routes.edge.errors import BadServerCredentials, TokenExpired
from routes.edge.identity.credentials import server_bearer
from routes.edge.pipeline.guessing import count_guess, refuse_guessing
from routes.edge.principal import ServerPrincipal, demand
from routes.users.parts import USER_DIRECTORY
from routes.voice.parts import FLEET, NODE_SECRETS

NODE = "social:voice.node"
"""The permission that a server's owner needs for the server to have voice nodes."""


def may_have_nodes(call: Call) -> None:
    """Guard: requires a game server whose owner may have voice nodes, and its own secret.

    Raises:
        Forbidden: the owner lacks `social:voice.node`, or the server came with a delegated token.
    """
    demand(NODE, call.server.access)
    require_secret(call.server)


async def node_or_none(call: Call, node_id: ObjectId) -> Node | None:
    """Guard: requires that the caller is this node, or the server that has registered it with its own secret; returns
    the node.

    None if the caller is a server and there is no such node.

    Raises:
        BadServerCredentials: the credentials are not valid; counted by address.
        TokenExpired: the credentials were valid once.
        RateLimited: the address has sent too many wrong credentials.
        Forbidden: a server without `social:voice.node`, or with a delegated token.
        NotFound: it is another node.
    """
    refuse_guessing(call)
    try:
        if call.header(b"x-node-id") is not None:
            return _itself(call, node_id)
        principal = await _server(call)
    except (BadServerCredentials, TokenExpired):
        count_guess(call)
        raise
    demand(NODE, principal.access)
    require_secret(principal)
    node = call.service.of(FLEET).get(node_id)
    if node is not None and node.row.server_id != principal.server_id:
        raise NotFound
    return node


async def node_itself(call: Call, node_id: ObjectId) -> Node:
    """Guard: as `node_or_none`, but there must be such a node, and the owner of its server may have nodes: whose right
    was taken carries the voices of nobody any more.

    Raises: what `node_or_none` raises, NotFound also where there is no such node; and
        Forbidden: the owner of the node's server lacks `social:voice.node`.
        PersistenceError: the server or its owner is not in memory, and cannot be read.
    """
    node = await node_or_none(call, node_id)
    if node is None:
        raise NotFound
    demand(NODE, await _access_of(call, node.row.server_id))
    return node


async def _access_of(call: Call, server_id: str) -> ServerAccess:
    """What a server may do of its owner's rights."""
    row = await call.service.of(GAME_SERVERS).credentials.of(server_id)
    if row is None or row.owner_id is None:
        return ServerAccess(None)
    try:
        return ServerAccess(await call.service.of(USER_DIRECTORY).access_of(row.owner_id))
    except NotFound:  # erased
        return ServerAccess(None)


def _itself(call: Call, node_id: str) -> Node:
    secret, named = server_bearer(call.header(b"authorization"), call.header(b"x-node-id"))
    node = call.service.of(FLEET).get(named.lower())
    known = None if node is None else call.service.of(NODE_SECRETS).own(node.row)
    right = compare_digest(secret.encode("latin-1"), b"" if known is None else known)
    if node is None or known is None or not right:
        raise BadServerCredentials
    if node.row.node_id != node_id:
        raise NotFound
    return node


async def _server(call: Call) -> ServerPrincipal:
    carried, named = call.header(b"authorization"), call.header(b"x-server-id")
    token, server_id = server_bearer(carried, named)
    authenticator = call.service.server_authenticator
    principal = None
    if carried is not None and named is not None:
        principal = authenticator.known(carried, named, call.now_ms)
    if principal is None:
        principal = await authenticator.server(token, server_id)
    authenticator.called(principal, call.client_address, call.now_ms)
    return principal
