"""The node that minds voice: it has all channels. Other nodes pass requests about voice on to it, and it tells them
what they need to show voice to their clients.

    told                then
    a channel's turn    the channel as it is now, and who speaks in it
    somebody speaks     the same
    a node's status     its status
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from actors.voice.commands import AnyCommand
from actors.voice.fleet import Node, NodeStatus
from actors.voice.home import HOME, HOME_SHARD, lives_at_home
from actors.voice.state import State
from persistence.errors import Fenced
from routes.call import Call
from routes.service import Service
from routes.voice.parts import ATTENDANCE, FLEET, VOICE_KINDS, VOICE_WATCH


@dataclass(frozen=True, slots=True)
class ChannelSeen:
    """A channel has changed, or other users speak in it.

    Args:
        state: the channel as it is now.
        speaking: the ids of the sessions in it that speak.
    """

    state: State
    speaking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A voice node's status has changed."""

    node_id: str
    status: NodeStatus


def takes_up(service: Service) -> bool:
    """Whether this node minds voice; if it has just begun to, its memory of voice is prepared for that."""
    watch = service.of(VOICE_WATCH)
    try:
        fence = service.placement.fence(HOME_SHARD)
    except Fenced:
        watch.leave()
        return False
    if watch.take(fence):
        service.of(FLEET).begin()
        service.of(ATTENDANCE).begin()
    return True


async def go_home(call: Call) -> None:
    """Have the request answered by the node that minds voice; for handlers that have not changed anything yet.

    Raises:
        Elsewhere: another node minds voice; the edge passes the request on.
        Overloaded: no node does at this moment.

    Cancellation ends the wait for such a node.
    """
    await call.go_to(call.service.of(VOICE_KINDS).channel, HOME)
    takes_up(call.service)


async def ask_channel(call: Call, channel_id: str, command: AnyCommand, shape: Callable[[State], Any]) -> Any:
    """Send a command to a channel, for a request that has gone home; see `Call.ask`.

    A channel from before the rule that all channels live there is asked wherever it lives, without a receipt.
    """
    kind = call.service.of(VOICE_KINDS).channel
    if lives_at_home(channel_id):
        return await call.ask(kind, channel_id, command, shape)
    return shape(await call.service.system.ask(kind, channel_id, command))


def tell_channel(service: Service, state: State) -> None:
    """Tell the other nodes that a channel has changed, or that other users speak in it."""
    if service.node is not None:
        speaking = service.of(ATTENDANCE).speaking & {one.session_id for one in state.sessions.values()}
        service.node.retelling.tell(ChannelSeen(replace(state, looked_up=None), tuple(speaking)))


def tell_status(service: Service, node: Node) -> None:
    """Tell the other nodes that a voice node's status has changed."""
    if service.node is not None:
        service.node.retelling.tell(NodeSeen(node.row.node_id, node.status))
