"""Where voice nodes stand, for clients that choose, and the nodes themselves, for moderators (contract §10)."""

from collections.abc import Iterable

from actors.time import iso
from actors.voice.fleet import Node, NodeStatus
from actors.voice.regions import display_name
from actors.voice.seats import Seats
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.wire import Wire
from routes.voice.home import go_home
from routes.voice.parts import ATTENDANCE, FLEET

_PAGES = Cursor("voice-nodes", str)


class VoiceRegion(Wire, frozen=True):
    """A region.

    Args:
        region: the region's name in requests.
        healthy: a node in it is online.
        nodes: that are online.
        participants: users in channels of these nodes.
        capacity: of these nodes together.
    """

    region: str
    display_name: str
    healthy: bool
    nodes: int
    participants: int
    capacity: int


class VoiceRegions(Wire, frozen=True):
    """The regions that have a node, by their codes."""

    items: list[VoiceRegion]


class VoiceNode(Wire, frozen=True):
    """A voice node.

    Args:
        region: where it stands, as its operator calls it.
        public_url: where clients connect.
        protocol: what it speaks.
        status: `draining` nodes take nobody new.
        capacity: how many users it can carry.
        participants: users with a session in one of its channels.
        reported_participants, reported_channels, load: as it says of itself.
    """

    node_id: str
    server_id: str
    region: str
    public_url: str
    protocol: str
    status: NodeStatus
    capacity: int
    participants: int
    reported_participants: int
    reported_channels: int
    load: float
    last_heartbeat_at: str
    created_at: str


class VoiceNodePage(Wire, frozen=True):
    """A page of nodes, the newest first."""

    items: list[VoiceNode]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", "/v1/social/voice/regions", needs="social:voice.read")
async def list_voice_regions(call: Call) -> VoiceRegions:
    """Where voice nodes stand, and how full they are, by the regions' codes."""
    await go_home(call)
    seats = call.service.of(ATTENDANCE).seats
    regions: dict[str, list[Node]] = {}
    for node in call.service.of(FLEET):
        regions.setdefault(node.row.region, []).append(node)
    return VoiceRegions([_region(seats, code, nodes) for code, nodes in sorted(regions.items())])


@endpoint("GET", "/v1/social/voice/nodes", needs="social:voice.manage")
async def list_voice_nodes(call: Call, query: PageQuery) -> VoiceNodePage:
    """All voice nodes, the newest first, in pages."""
    await go_home(call)
    seats = call.service.of(ATTENDANCE).seats
    after = _PAGES.place(query.cursor)
    nodes = sorted(call.service.of(FLEET), key=lambda node: node.row.node_id, reverse=True)
    later = [node for node in nodes if after is None or node.row.node_id < after]
    page = _PAGES.page(later, query.limit, lambda node: node.row.node_id)
    return VoiceNodePage([_node(seats, node) for node in page.rows], page.next_cursor, page.has_more)


def _region(seats: Seats, code: str, nodes: Iterable[Node]) -> VoiceRegion:
    online = [node for node in nodes if node.status == "online"]
    return VoiceRegion(
        region=code,
        display_name=display_name(code),
        healthy=bool(online),
        nodes=len(online),
        participants=sum(seats.taken(node.row.node_id) for node in online),
        capacity=sum(node.row.capacity for node in online),
    )


def _node(seats: Seats, node: Node) -> VoiceNode:
    row = node.row
    return VoiceNode(
        node_id=row.node_id,
        server_id=row.server_id,
        region=row.region,
        public_url=row.public_url,
        protocol=row.protocol,
        status=node.status,
        capacity=row.capacity,
        participants=seats.taken(row.node_id),
        reported_participants=node.participants,
        reported_channels=node.channels,
        load=node.load,
        last_heartbeat_at=iso(node.heard_ms),
        created_at=iso(row.created_at_ms),
    )
