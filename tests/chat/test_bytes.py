"""Windows, pages, snapshots and lists are bounded in bytes, whatever is in the messages."""

from collections.abc import AsyncIterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.chat import reading, rendering
from actors.chat.commands import ChatViewer, DeleteMessage, EditMessage
from actors.chat.frames import Frames, audience
from actors.chat.inbox import snapshot
from actors.chat.inbox_state import Entry, InboxState
from actors.chat.public import ConversationList, InboxSnapshot, MessagePage
from actors.chat.reading import StoredConversation
from actors.chat.state import Facts, MemberCounts
from actors.chat.window import NO_MESSAGES, PASSED_BYTES, WINDOW_BYTES, WINDOW_LINES, Line
from actors.pages import MAX_PAGE_BYTES
from persistence.bridge.database import Database
from routes.chat import reads
from tests.chat.play import NOW_MS, mid, uid
from tests.chat.stage import Stage, open_stage

LARGE = "\U0001f600" * 4_000
HEAD_BYTES = 4_000


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    yield await open_stage(database)


async def fill_with_large(stage: Stage, count: int) -> None:
    for start in range(0, count, 20):
        await stage.act(*(stage.posting("ann", LARGE) for _ in range(start, min(start + 20, count))))


@given(st.lists(st.integers(0, WINDOW_BYTES // 2), min_size=1, max_size=300))
def test_a_window_has_no_more_bytes_than_it_may(sizes: list[int]):
    window = NO_MESSAGES
    records = {size: bytes(size) for size in sizes}
    for number, size in enumerate(sizes, 1):
        window = window.with_newest(Line(f"m{number}", number, number, "ann", None, records[size]))
    assert window.size_bytes == sum(len(line.record) for line in window) <= WINDOW_BYTES
    assert window[-1].seq == len(sizes)
    longer = sum(sizes[-len(window) - 1 :]) > WINDOW_BYTES
    assert len(window) in (len(sizes), WINDOW_LINES) or longer
    held = sum(len(line.record) for line in window._lines)
    assert held <= WINDOW_BYTES + PASSED_BYTES + 2 * (WINDOW_BYTES // 2)


async def test_large_messages_fill_neither_memory_nor_pages(stage: Stage):
    await fill_with_large(stage, 90)
    assert len(stage.state.window) < 90
    assert stage.state.window.size_bytes <= WINDOW_BYTES
    assert stage.state.older_live
    viewer = ChatViewer(uid("bob"), 120)
    frame = stage.kinds.frames.snapshot(stage.state, audience(stage.state, viewer))
    assert len(frame) <= MAX_PAGE_BYTES + HEAD_BYTES
    assert msgspec.json.decode(frame, type=MessagePage).has_more
    assert await stage.loaded(stage.id) == stage.state


async def test_pages_that_are_cut_by_bytes_neither_skip_nor_repeat(stage: Stage):
    await fill_with_large(stage, 150)
    await stage.fill(30)
    for limit in (7, 50, 120):
        seen: list[str] = []
        before_ms: int | None = None
        while before_ms != 0:
            page = await stage.page("bob", limit=limit, before_ms=before_ms)
            assert sum(len(one.content.encode()) for one in page.items) <= MAX_PAGE_BYTES
            assert page.has_more == (page.next_before_ms != 0)
            assert page.items
            seen[:0] = [one.id for one in page.items]
            before_ms = page.next_before_ms
        assert seen == [mid(number) for number in range(2, 182)]


async def test_old_messages_that_left_for_their_bytes_are_changed_like_any_other(stage: Stage):
    first = await stage.post("ann", "first")
    await fill_with_large(stage, 80)
    assert all(line.id != first.id for line in stage.state.window)
    await stage.do(EditMessage(uid("ann"), first.id, "other"))
    assert (await stage.page("bob", limit=120, before_ms=first.created_at_ms + 1)).items[
        -1
    ].content == "other"
    # What has become small does not bring back what has left: rows know.
    for line in list(stage.state.window):
        await stage.do(DeleteMessage(uid("ann"), line.id))
    page = await stage.page("bob", limit=120)
    assert page.items[0].id == first.id


async def test_edits_do_not_make_a_window_larger_than_it_may_be(stage: Stage):
    await stage.fill(100)
    for line in list(stage.state.window)[:80]:
        await stage.do(EditMessage(uid("ann"), line.id, LARGE))
    assert stage.state.window.size_bytes <= WINDOW_BYTES
    assert stage.state.older_live
    assert await stage.page("bob", limit=120)


async def test_a_page_of_events_is_bounded_in_bytes(stage: Stage):
    await fill_with_large(stage, 80)
    seen: list[int] = []
    more = True
    while more:
        since = seen[-1] if seen else 0
        stored = await stage.database.read(reading.read_events, stage.id, uid("bob"), since, 500)
        page = rendering.event_page(stage.kinds.frames, stored)
        assert len(msgspec.json.encode(page)) <= MAX_PAGE_BYTES + HEAD_BYTES
        seen += [item.offset for item in page.items]
        more = page.has_more
    assert seen == list(range(1, 81))


def a_crowd(number: int) -> StoredConversation:
    people = tuple((uid(f"{number}-{one}"), "\U0001f600" * 64) for one in range(100))
    facts = Facts(
        id=mid(number),
        kind="group",
        title=None,
        owner_id=people[0][0],
        created_at_ms=NOW_MS,
        updated_at_ms=NOW_MS - number,
        silent=(),
        participants=people,
        participant_count=100,
        last_message=None,
        last_event=None,
    )
    return StoredConversation(facts, MemberCounts(1, 0, None, muted=False))


def test_lists_of_conversations_are_bounded_in_bytes():
    frames = Frames(lambda _ids: (), lambda: NOW_MS)
    crowds = tuple(a_crowd(number) for number in range(1, 201))
    encoded = reads.conversation_list(frames, crowds, 200)
    assert len(encoded) <= MAX_PAGE_BYTES + HEAD_BYTES
    page = msgspec.json.decode(encoded, type=ConversationList)
    assert page.has_more
    last = page.items[-1]
    place = reads.CONVERSATIONS.place(page.next_cursor)
    assert place == (NOW_MS - len(page.items), last.id)
    entries = tuple(Entry(one.facts, one.own) for one in crowds)
    inbox = snapshot(frames, InboxState(uid("ann"), entries, {}))
    assert len(inbox) <= MAX_PAGE_BYTES + HEAD_BYTES
    frame = msgspec.json.decode(inbox, type=InboxSnapshot)
    assert (frame.totals.unread, frame.has_more) == (200, True)
