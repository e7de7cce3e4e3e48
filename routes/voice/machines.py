"""Routes that voice nodes call: to register, to report their state, and to leave (contract §7, §10)."""

from functools import partial
from typing import Annotated, Literal

import msgspec

from actors.bounds import ShortText, ruled
from actors.errors import Forbidden, Invalid, NotFound, QuotaExceeded
from actors.ids import ObjectId
from actors.voice import units_nodes
from actors.voice.fleet import HEARTBEAT_INTERVAL_MS, Node
from actors.voice.outbox import ActionKind
from persistence.voice.nodes import NodeRow
from routes.call import Call
from routes.changes import change
from routes.edge import policies
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import BadServerCredentials, RateLimited, TokenExpired
from routes.edge.identity.base64url import to_base64url
from routes.edge.principal import PUBLIC, SERVER
from routes.edge.wire import Wire
from routes.voice.addresses import MAX_URL_CHARACTERS, public_url
from routes.voice.guards import may_have_nodes, node_itself, node_or_none
from routes.voice.home import go_home, tell_status
from routes.voice.orders import order_what_differs, repeat_orders
from routes.voice.parts import NODE_SECRETS, WAITING_NODES
from routes.voice.reactions import NodeInDoubt

SECRET_BYTES = 32

MAX_WAIT_SECONDS = 20
"""The longest wait of a heartbeat: well below the silence after which a node counts as offline."""

Region = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]{2,32}$(?!\n)", max_length=32)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class LiveKitKey(Wire, frozen=True):
    """The API key of a LiveKit cluster that has one already; the secret is sealed, and never shown.

    Args:
        api_key: the key's name.
        api_secret: the key; kept sealed and never shown.
    """

    api_key: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)", max_length=64)]
    api_secret: Annotated[str, msgspec.Meta(min_length=32, max_length=256)]


class NewNode(Wire, frozen=True):
    """A voice node.

    Args:
        region: 2 to 32 of a-z, 0-9 and `-`, such as `eu-west`.
        public_url: `ws://` or `wss://`, host, port and path, at most 300 characters.
        capacity: users at the same time, 1 to 100,000.
        protocol: `partyline` for a node that asks for actions, `livekit` for one with LiveKit behind it.
        livekit: the key under which tokens are signed; left out, it is the node's id and secret.
    """

    region: Region
    public_url: Annotated[str, msgspec.Meta(max_length=1_000), ruled(maxLength=MAX_URL_CHARACTERS)]
    capacity: Annotated[int, msgspec.Meta(ge=1, le=100_000)]
    protocol: Literal["livekit", "partyline"]
    livekit: LiveKitKey | None = None


class RegisteredNode(Wire, frozen=True):
    """The node, with its secret, which is not shown again.

    Args:
        node_secret: to be sent with each request; shown this once.
        heartbeat_interval_ms: how often it is to say how it is; three missed, and it is offline.
    """

    node_id: str
    node_secret: str
    heartbeat_interval_ms: int


class Room(Wire, frozen=True):
    """Who is connected to a channel on the node."""

    channel_id: ShortText
    participants: Annotated[list[ShortText], msgspec.Meta(max_length=128)]


class VoiceHeartbeatBody(Wire, frozen=True):
    """How a node is.

    Args:
        participants, channels: that it carries now.
        load: 0 to 1.
        draining: it wants no new channels.
        rooms: who is connected; who has no session is removed.
        ack: the `cursor` up to which the actions are carried out.
        wait_seconds: how long the answer may wait for an action.
    """

    participants: Count
    channels: Count
    load: Annotated[float, msgspec.Meta(ge=0, le=1)]
    draining: bool
    rooms: Annotated[list[Room], msgspec.Meta(max_length=5_000)] | None = None
    ack: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    wait_seconds: Annotated[int, msgspec.Meta(ge=0, le=MAX_WAIT_SECONDS)] = 0


class NodeAction(Wire, frozen=True, omit_defaults=True):
    """What a node is to do.

    Args:
        kind: what to do.
        user_id: left out for `close`.
        not_before: epoch seconds; tokens of the user for the channel whose `nbf` is older are void.
    """

    id: str
    kind: ActionKind
    channel_id: str
    not_before: int
    user_id: str | None = None


class VoiceHeartbeatReply(Wire, frozen=True):
    """What the node is to do.

    Args:
        heartbeat_interval_ms: how often the node is to say that it is there.
        actions: repeated until acknowledged, or ten minutes old.
        cursor: acknowledges these actions, as `ack` of a later heartbeat.
    """

    heartbeat_interval_ms: int
    server_time_ms: int
    actions: list[NodeAction]
    cursor: str


@endpoint(
    "POST",
    "/v1/social/voice/nodes/register",
    needs=SERVER,
    status=201,
    refusals=(Forbidden, NotFound, Invalid, QuotaExceeded),
    guard=may_have_nodes,
    secret_reply=True,
)
async def register_voice_node(call: Call, body: NewNode) -> RegisteredNode:
    """Registers a voice node of a game server.

    Needs the server's own secret, and its owner's `social:voice.node`. The node's secret is shown this once: tokens of
    users are signed with it (HS256), under the node's id as key. A server has 50 nodes at most. No node is ever called.
    """
    service = call.service
    node_id, secret = call.new_id(), to_base64url(service.random_bytes(SECRET_BYTES))
    secrets, livekit = service.of(NODE_SECRETS), body.livekit
    row = NodeRow(
        node_id=node_id,
        server_id=call.server.server_id,
        region=body.region,
        public_url=public_url(body.public_url),
        capacity=body.capacity,
        protocol=body.protocol,
        sealed_secret=secrets.seal(secret, node_id, "node"),
        livekit_key=None if livekit is None else livekit.api_key,
        sealed_livekit=None if livekit is None else secrets.seal(livekit.api_secret, node_id, "livekit"),
        draining=False,
        heard_at_ms=call.now_ms,
        created_at_ms=call.now_ms,
    )
    made = RegisteredNode(node_id, secret, HEARTBEAT_INTERVAL_MS)
    return await change(call, units_nodes.register, row, about=NodeInDoubt(node_id), shape=lambda _: made)


@endpoint(
    "POST",
    "/v1/social/voice/nodes/{nodeId}/heartbeat",
    needs=PUBLIC,
    rate=policies.SERVER,
    rate_key="node_id",
    refusals=(BadServerCredentials, TokenExpired, RateLimited, Forbidden, NotFound),
    guard=node_itself,
    keyed=False,
)
async def voice_node_heartbeat(
    call: Call,
    node_id: ObjectId,  # noqa: ARG001
    body: VoiceHeartbeatBody,
) -> VoiceHeartbeatReply:
    """Says how a node is, and answers what it is to do.

    Needs the node's secret as bearer token with its id in `X-Node-Id`, or the own secret of its server; and as long as
    it serves, the `social:voice.node` of that server's owner. With `waitSeconds` (at most 20) the answer waits until
    there is something to do. Actions are repeated until acknowledged.
    """
    await go_home(call)
    service = call.service
    node: Node = call.subject
    if node.take("drains" if body.draining else "heard", call.now_ms):
        tell_status(service, node)
    node.heard_ms = call.now_ms
    node.participants, node.channels, node.load = body.participants, body.channels, body.load
    if not node.outbox.acknowledge(body.ack) and not node.told:
        repeat_orders(service, node)
    node.told = True
    if body.rooms is not None:
        rooms = [(room.channel_id, room.participants) for room in body.rooms]
        order_what_differs(service, node, rooms, call.now_ms)
    await call.wait(partial(service.of(WAITING_NODES).wait, node), body.wait_seconds)
    if call.subject is not node:  # it has gone, and come again, while this one waited
        raise NotFound
    node.heard_ms = call.now_ms
    return _reply(node, node.heard_ms)


@endpoint(
    "DELETE",
    "/v1/social/voice/nodes/{nodeId}",
    needs=PUBLIC,
    rate=policies.SERVER,
    refusals=(BadServerCredentials, TokenExpired, RateLimited, Forbidden, NotFound),
    guard=node_or_none,
)
async def remove_voice_node(call: Call, node_id: ObjectId) -> None:
    """Removes a node; its channels move to others, of its region if it can be.

    Needs the node's secret as bearer token with its id in `X-Node-Id`, or the own secret of its server. A server may
    repeat it; the node's own secret ends with it.
    """
    await change(call, units_nodes.remove, node_id, about=NodeInDoubt(node_id))


def _reply(node: Node, now_ms: int) -> VoiceHeartbeatReply:
    actions = [
        NodeAction(
            node.outbox.name_of(one),
            one.kind,
            one.channel_id,
            not_before=one.not_before_s,
            user_id=one.user_id,
        )
        for one in node.outbox.pending()
    ]
    return VoiceHeartbeatReply(HEARTBEAT_INTERVAL_MS, now_ms, actions, node.outbox.cursor())
