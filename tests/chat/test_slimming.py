"""A conversation that gives up what rows hold as well goes on as it would have."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from actors.chat.commands import EditMessage, VotePoll
from actors.chat.paging import newest
from actors.chat.slimming import SLIM_BYTES, slim, spare_bytes
from actors.chat.window import NO_MESSAGES, Line, Window
from actors.errors import Refused
from persistence.bridge.database import Database
from tests.chat.play import NOW_MS, a_conversation, a_poll, mid, uid
from tests.chat.stage import Stage, lasting, open_stage

LONG = "x" * 3_000


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    yield await open_stage(database)


async def test_it_holds_its_newest_messages_and_pages_show_all(stage: Stage) -> None:
    await stage.fill(150)
    for _ in range(40):
        await stage.post("ann", LONG)
    whole = stage.state
    assert spare_bytes(whole) > 100_000
    stage.state = slim(whole)
    assert spare_bytes(stage.state) == 0
    assert 0 < stage.state.window.size_bytes <= SLIM_BYTES
    assert list(stage.state.window) == list(whole.window[-len(stage.state.window) :])
    for limit in (2, 50, 120):
        before_ms: int | None = None
        seen: list[str] = []
        while before_ms != 0:
            page = await stage.page("bob", limit=limit, before_ms=before_ms)
            before_ms = page.next_before_ms
            seen[:0] = [one.id for one in page.items]
        assert seen == [mid(number) for number in range(2, 192)]
    await stage.fill(30)
    assert len(stage.state.window) == len(slim(whole).window) + 30
    # Nothing to give up: it stays as it is.
    ordinary = stage.state
    assert slim(slim(ordinary)) == slim(ordinary)


async def test_what_it_gave_up_is_still_edited_voted_in_and_recognized(stage: Stage) -> None:
    poll = await stage.post("ann", None, poll=a_poll("a", "b", expires_at_ms=NOW_MS + 10**8))
    assert poll.poll is not None
    await stage.do(VotePoll(uid("bob"), poll.id, (poll.poll.options[0].id,)))
    first = await stage.post("ann", LONG, client_message_id="said")
    for _ in range(20):
        await stage.post("bob", LONG)
    stage.state = slim(stage.state)
    assert stage.state.votes == {}
    assert first.id not in {line.id for line in stage.state.window}
    again = await stage.post("ann", LONG, client_message_id="said")
    assert again.id == first.id
    edited = await stage.do(EditMessage(uid("ann"), first.id, "better"))
    assert b'"content":"better"' in bytes(edited)
    voted = await stage.do(VotePoll(uid("bob"), poll.id, (poll.poll.options[1].id,)))
    assert b'"votes":1,"selected":true' in bytes(voted)
    assert not isinstance(voted, Refused)
    # And is whole once it is loaded, also where its snapshot was taken of what was left.
    stage.take_snapshot()
    assert lasting(await stage.restored()) == lasting(await stage.loaded(stage.id))
    assert len((await stage.restored()).window) == 22


async def test_many_votes_count_as_well(stage: Stage) -> None:
    for _ in range(30):
        poll = await stage.post("ann", None, poll=a_poll("a", "b"))
        assert poll.poll is not None
        for name in ("ann", "bob", "cid"):
            await stage.do(VotePoll(uid(name), poll.id, (poll.poll.options[0].id,)))
    slimmed = slim(stage.state)
    assert spare_bytes(stage.state) > 0 == spare_bytes(slimmed)
    assert 0 < len(slimmed.votes) == len(slimmed.window) < 30
    assert slimmed.votes == {line.id: stage.state.votes[line.id] for line in slimmed.window}


def test_what_was_imported_is_given_up_too() -> None:
    """Archived messages between the live ones and before them: what is left has no gap."""
    record = b"x" * 1_000
    live = [Line(f"m{at}", seq, at, "ann", None, record) for seq, at in enumerate(range(50, 100, 2), 1)]
    archived = tuple(Line(f"a{at}", 0, at, "ann", None, record) for at in range(1, 80, 2))
    whole = replace(a_conversation("ann", "bob"), window=Window(live), archived=archived)
    slimmed = slim(whole)
    assert spare_bytes(slimmed) == 0 < spare_bytes(whole)
    for limit in (1, 10, 16):
        shown, older = newest(slimmed, limit, include_archived=True)
        assert (list(shown), older) == (list(newest(whole, limit, include_archived=True)[0]), True)
    assert len(newest(slimmed, 120, include_archived=True)[0]) == 16
    # Imported messages alone, newer than all that was said here.
    late = tuple(Line(f"a{at}", 0, at, "ann", None, record) for at in range(200, 240))
    slimmed = slim(replace(whole, archived=late))
    assert ([line.id for line in slimmed.window], len(slimmed.archived)) == (["m98"], 16)
    assert slimmed.older_archived_ms == 223
    nothing = replace(whole, window=NO_MESSAGES, archived=late)
    assert (len(slim(nothing).window), len(slim(nothing).archived)) == (0, 16)
