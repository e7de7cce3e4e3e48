"""Rows and wire: what the journal said of a message is said anew within bounds, however often it has been told of."""

import pytest
from msgspec.structs import replace

from actors.chat.lookups import RETOLD_EVENTS
from actors.chat.retelling import RETOLD_BYTES, affordable
from actors.chat.window import Line
from persistence.connection import Connection
from tests.chat.play import Play, a_poll, poll_body
from tests.support.one_world import in_one_world
from tests.support.world import Player, Room, World

LONG = "\N{GRINNING FACE}" * 4_000
FEW, MANY = 3, 20


@pytest.mark.parametrize(
    ("count", "size", "becomes", "kept"),
    [
        (3, 300, 300, 3),
        (RETOLD_EVENTS, 10, 10, RETOLD_EVENTS),
        (RETOLD_EVENTS + 1, 10, 10, RETOLD_EVENTS),
        (20, RETOLD_BYTES // 10, 10, 10),
        (20, 10, RETOLD_BYTES // 10, 10),
    ],
)
def test_the_newest_are_said_anew_as_far_as_the_bounds_reach(
    count: int, size: int, becomes: int, kept: int
) -> None:
    line = a_line(becomes)
    offsets = range(7, 7 + count)
    said, gone = affordable(dict.fromkeys(offsets, size), dict.fromkeys(offsets, line))
    assert said == list(reversed(offsets))[:kept]
    assert gone == (0 if kept == count else offsets[-kept - 1])


def a_line(size: int) -> Line:
    play = Play()
    play.post(poll=a_poll())
    return replace(play.state.window[0], record=b"x" * size)


async def voted(world: World, votes: int) -> tuple[Player, Room, str]:
    """A poll that was told of so many times, with a text of 16 KB."""
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    sent = await ann.do("POST", room.messages, {"content": LONG, "poll": poll_body()}, status=201)
    options = [option["id"] for option in sent["poll"]["options"]]
    for number in range(votes):
        vote = {"optionIds": [options[number % 2]]}
        await ben.do("POST", f"{room.message(sent['id'])}/poll/vote", vote, status=200)
    return ann, room, sent["id"]


async def journal_of(world: World, room: Room) -> tuple[list[int], int, int]:
    """The offsets that are kept, their bytes, and what the head says of those."""

    async def read(conn: Connection) -> tuple[list[int], int, int]:
        events = await conn.fetch(
            "SELECT seq, octet_length(event) AS bytes FROM events WHERE id = $1 ORDER BY seq", room.id
        )
        said = await conn.fetchval("SELECT journal_bytes FROM heads WHERE id = $1", room.id)
        return [event["seq"] for event in events], sum(event["bytes"] for event in events), said

    return await world.service.database.read(read)


@in_one_world(("votes", "content"), [(FEW, "short"), (MANY, "short"), (MANY, LONG[1:])])
async def test_an_edit_costs_no_more_however_often_a_message_was_told_of(
    world: World, votes: int, content: str
) -> None:
    ann, room, message_id = await voted(world, votes)
    before, _, _ = await journal_of(world, room)
    assert len(before) == 1 + votes
    await ann.do("PATCH", room.message(message_id), {"content": content}, status=200)
    kept, size, said = await journal_of(world, room)
    assert size == said
    assert kept == list(range(kept[0], 2 + votes + 1))
    if votes == FEW:
        assert kept[0] == 1
        events = await ann.get(f"{room.path}/events")
        assert LONG not in str(events)
        return
    # The newest are said anew, the others are gone, and so whoever comes back to those begins with a fresh page.
    assert 1 < kept[0] < votes
    assert size <= RETOLD_BYTES + len(LONG.encode()) + 2_000
    assert await ann.refused("GET", f"{room.path}/events") == (410, "EVENTS_EXPIRED")
    events = await ann.get(f"{room.path}/events?since={kept[0] - 1}")
    assert len(events["items"]) == len(kept)
    assert LONG not in str(events)
