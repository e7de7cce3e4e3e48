"""Viewers of ledgers on a node, and what they should have seen."""

from typing import Any

from actors.kernel.subscription import Subscription, WatchRequest
from tests.kernel.folding import fold
from tests.kernel.ledger import KIND, Viewer, frame
from tests.nodes.realm import Realm
from tests.support.sinks import JsonEnvelope, Socket

ENVELOPE = JsonEnvelope()


async def watch(
    realm: Realm,
    node: str,
    id: str,
    user: str = "ann",
    *,
    mode: Any = "delta",
    since: tuple[str, int] | None = None,
) -> tuple[Socket, Subscription]:
    """A viewer on a node."""
    socket = Socket()
    request = WatchRequest(
        sink=socket,
        viewer=Viewer(user),
        channel=f"ledger:{id}",
        envelope=ENVELOPE,
        mode=mode,
        opened=socket.on_opened,
        since=since,
    )
    return socket, await realm.nodes[node].system.watch(KIND, id, request)


def seen(socket: Socket) -> dict[str, Any]:
    """What a client has made of its frames; there must be no gap and no repeat in them."""
    state: dict[str, Any] = {}
    offset = socket.opened[0][1] if socket.opened[0][2] else -1
    for one in socket.frames:
        if one["type"] == "snapshot":
            assert one["offset"] >= offset
            state, offset = one["data"], one["offset"]
        elif one["offset"] is not None:
            assert one["offset"] == offset + 1, "neither a gap nor a repeat"
            state, offset = fold(state, one), one["offset"]
    return state


def truth(realm: Realm, id: str, audience: str = "member") -> Any:
    """What the rows show."""
    shown = frame(realm.simulation.rows["ledger", id], audience)
    assert isinstance(shown, dict)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in shown.items()}
