"""The parts of voice: nodes and channels in memory, and the kinds of actors."""

from typing import Any

from actors.ids import new_epoch
from actors.kernel.kind import Kind
from actors.voice import loading
from actors.voice.attendance import Attendance
from actors.voice.fleet import Fleet
from actors.voice.kind import VoiceKinds, voice_kinds
from actors.voice.public import Place
from persistence.voice import channels, nodes
from routes.part import Opening, Part
from routes.party.memberships import MEMBERSHIPS
from routes.voice.secrets import NodeSecrets
from routes.voice.waiting import WaitingNodes
from routes.voice.watch import Watch

CHANNELS_AT_ONCE = 200
"""How many channels one transaction reads at the start."""


async def _open_fleet(opening: Opening) -> Fleet:
    rows = await opening.database.read(nodes.read_all)
    return Fleet(rows, opening.clock.now_ms, lambda: new_epoch(opening.random_bytes))


async def _open_secrets(opening: Opening) -> NodeSecrets:
    return NodeSecrets(opening.keys, opening.random_bytes)


async def _open_waiting(opening: Opening) -> WaitingNodes:
    return WaitingNodes(await opening.of(FLEET))


async def _open_attendance(opening: Opening) -> Attendance:
    attendance = Attendance(await opening.of(FLEET), opening.clock.now_ms)
    ids = await opening.database.read(channels.ids)
    for start in range(0, len(ids), CHANNELS_AT_ONCE):
        for state in await opening.database.read(loading.load_some, ids[start : start + CHANNELS_AT_ONCE]):
            attendance.take(state)
    return attendance


async def _open_kinds(opening: Opening) -> VoiceKinds:
    fleet, secrets = await opening.of(FLEET), await opening.of(NODE_SECRETS)

    def place_of(node_id: str | None) -> Place | None:
        node = fleet.get(node_id)
        key = None if node is None else secrets.signing(node.row)
        if node is None or key is None:
            return None
        return Place(node.row.region, node.row.public_url, key.name, key.sign)

    return voice_kinds(await opening.of(ATTENDANCE), await opening.of(MEMBERSHIPS), place_of)


async def _open_watch(_opening: Opening) -> Watch:
    return Watch()


def _kinds(kinds: VoiceKinds) -> tuple[Kind[Any, Any], ...]:
    return (kinds.channel,)


FLEET = Part(name="voice nodes", open=_open_fleet)
"""All voice nodes."""

NODE_SECRETS = Part(name="secrets of voice nodes", open=_open_secrets)
"""The keys with which tokens are signed."""

WAITING_NODES = Part(name="waiting heartbeats of voice nodes", open=_open_waiting)
"""Heartbeats that wait for something to do."""

VOICE_WATCH = Part(name="who minds voice", open=_open_watch)
"""Whether this node minds voice."""

ATTENDANCE = Part(name="voice channels in memory", open=_open_attendance)
"""Who is in which channel."""

VOICE_KINDS = Part(name="voice channels", open=_open_kinds, kinds=_kinds)
"""The kind of voice channels, and the view of a user's own voice."""
