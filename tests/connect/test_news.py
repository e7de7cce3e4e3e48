"""What memory everywhere follows of game servers: the event says all of it, and is the same after its way to another
node.
"""

from typing import get_args

import msgspec
import pytest

from actors.connect.events import (
    AnyEvent,
    MembersChanged,
    ServerChanged,
    ServerNews,
    ServerRemoved,
    SessionEnded,
    SessionStarted,
)
from actors.connect.playing import Playing
from actors.users.presence import Presence
from persistence.connect.rows import MemberRow, SessionRow, TicketRow
from tests.connect.play import NOW, OWNER, ROW, STRANGER

SESSION = SessionRow("server", STRANGER, "session", "Stranger", NOW, NOW + 1)
TICKET = TicketRow("server", STRANGER, bytes(32), "Stranger", NOW + 1, used=True)
MEMBER = MemberRow(
    server_id="server",
    user_id=STRANGER,
    name="Stranger",
    role="viewer",
    capabilities=("console.read",),
    added_by=OWNER,
    created_at_ms=NOW,
    updated_at_ms=NOW,
)

EVENTS = (
    ServerChanged(msgspec.structs.replace(ROW, secret=b"\xff" * 32)),
    ServerRemoved(NOW),
    SessionStarted(SESSION, TICKET),
    SessionEnded(SESSION),
    MembersChanged((MEMBER,), ("gone",)),
)


class FixedClock:
    """Time stands still."""

    def now_ms(self) -> int:
        return NOW


def carried(event: ServerNews) -> ServerNews:
    """As another node has it."""
    decoded = msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=AnyEvent)
    assert isinstance(decoded, get_args(ServerNews))
    return decoded  # type: ignore[return-value]


def test_every_sort_is_tried() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(ServerNews))


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_news_survive_their_way(event: ServerNews) -> None:
    assert carried(event) == event


def test_who_plays_where_follows_the_news() -> None:
    presence = Presence(FixedClock())
    playing = Playing(presence)
    playing.hear(carried(SessionStarted(SESSION, TICKET)))
    assert playing.session_of(STRANGER, "server") == SESSION
    assert presence.is_online(STRANGER)
    playing.hear(carried(SessionEnded(SESSION)))
    assert playing.session_of(STRANGER, "server") is None


def test_all_nodes_say_alike_since_when_a_player_is_online() -> None:
    presence = Presence(FixedClock())
    begun = msgspec.structs.replace(SESSION, started_at_ms=NOW - 40)  # it took so long to hear of it
    Playing(presence).hear(carried(SessionStarted(begun, TICKET)))
    assert presence.online_since_ms(STRANGER) == NOW - 40
