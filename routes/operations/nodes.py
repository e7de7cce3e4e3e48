"""The nodes of the service, for super-admins: which are alive, and how much each owns."""

from typing import Literal

from persistence.nodes import members
from persistence.nodes.members import View
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import DatabaseDown
from routes.edge.principal import SUPER_ADMIN
from routes.edge.wire import Wire


class Node(Wire, frozen=True):
    """A node as its row shows it.

    Args:
        name: random, kept in the node's data folder.
        life: a number that rises with each start of any node.
        state: `alone`: it serves without others; `joining`: it owns nothing yet; `up`; `leaving`: it gives away what it
            owns.
        release: the release of the program that it runs; empty for a node that serves alone.
        since_ms: when this life began, epoch milliseconds; 0 for a node that serves alone.
        shards: how many of the 1,040 it owns.
        sockets: its open live sockets.
        lag_bytes: bytes that wait to be sent to the node that is furthest behind.
        hears: names of the nodes from which it receives.
        silent: it has not renewed its row in time, and is about to be declared dead.
        drained: an operator wants it to own nothing (`partyline nodes drain`).
    """

    name: str
    life: int
    state: Literal["alone", "joining", "up", "leaving"]
    release: str
    since_ms: int
    shards: int
    sockets: int
    lag_bytes: int
    hears: tuple[str, ...]
    silent: bool
    drained: bool


class NodeList(Wire, frozen=True):
    """All nodes.

    Args:
        self_: the name of the node that answers; null for one that serves alone.
        unowned: number of shards that no living node owns; their actors are not served at this moment.
        items: by name.
    """

    self_: str | None
    unowned: int
    items: tuple[Node, ...]


def nodes_of(view: View) -> tuple[Node, ...]:
    """The nodes in the rows, by name."""
    owned = [lease.node for lease in view.leases.values()]
    return tuple(
        Node(
            member.node,
            member.life,
            member.state.value,
            member.release,
            member.since_ms,
            owned.count(member.node),
            member.sockets,
            member.waiting_bytes,
            tuple(sorted(member.heard)),
            member.is_over,
            member.is_drained,
        )
        for member in view.members.values()
    )


@endpoint("GET", "/v1/admin/nodes", needs=SUPER_ADMIN, refusals=(DatabaseDown,))
async def list_nodes(call: Call) -> NodeList:
    """The nodes of the service, as they have said of themselves within the last second, and how much each owns."""
    view = await call.service.database.read(members.read)
    node = call.service.node
    unowned = sum(lease.node not in view.members for lease in view.leases.values())
    return NodeList(None if node is None else node.membership.life.node, unowned, nodes_of(view))
