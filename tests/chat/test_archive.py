"""The archive: imported history and messages that grew old, merged without gap or double."""

import json
from itertools import count
from typing import Any, cast

import pytest

from actors.chat.archive import ImportReport, check_line, import_archive
from actors.chat.commands import EditMessage, MarkRead, TellArchive, VotePoll
from actors.chat.state import standing
from actors.errors import Conflict
from persistence.bridge.database import Database
from tests.chat.history import archive_old
from tests.chat.play import NOW_MS, a_poll, mid, uid
from tests.chat.stage import Stage, lasting, open_stage
from tests.support.cost import cpu_seconds

OLD_MS = NOW_MS - 10_000_000


@pytest.fixture
async def stage(database: Database) -> Stage:
    return await open_stage(database)


def a_line(stage: Stage | None = None, **fields: Any) -> dict[str, Any]:
    values = {
        "conversationId": stage.id if stage else mid(1),
        "senderId": uid("bob"),
        "senderName": "Bob of old",
        "content": "long ago",
        "createdAtMs": OLD_MS,
    }
    return {name: value for name, value in {**values, **fields}.items() if value is not None}


async def bring(stage: Stage, *lines: dict[str, Any] | str) -> ImportReport:
    texts = [line.encode() if isinstance(line, str) else json.dumps(line).encode() for line in lines]
    numbers = count(stage.number + 10**6)
    report = await import_archive(
        stage.database, texts, now_ms=stage.now_ms, new_id=lambda: mid(next(numbers))
    )
    await stage.do(TellArchive())
    assert await stage.loaded(stage.id) == lasting(stage.state)
    return report


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"senderId": "bob"}, "senderId"),
        ({"content": " "}, "content"),
        ({"content": "x" * 4_001}, "content"),
        ({"content": "a\0"}, "content"),
        ({"senderName": ""}, "senderName"),
        ({"id": "xyz"}, "id is not"),
        ({"participantIds": [uid("ann"), uid("bob")]}, "exactly one of conversationId"),
        ({"conversationId": None}, "exactly one of conversationId"),
        ({"conversationId": None, "participantIds": [uid("ann")]}, "two for direct"),
        ({"conversationId": None, "participantIds": [uid("a"), uid("b"), uid("c")]}, "two for direct"),
        ({"conversationId": None, "participantIds": [uid("a"), uid("b")], "kind": "x"}, "kind is"),
        ({"createdAt": "2020-01-01T00:00:00Z"}, "exactly one of createdAtMs"),
        ({"createdAtMs": None}, "exactly one of createdAtMs"),
        ({"createdAtMs": None, "createdAt": "yesterday"}, "ISO 8601"),
        ({"createdAtMs": NOW_MS}, "in the past"),
        ({"createdAtMs": 0}, "in the past"),
        ({"createdAtMs": "1"}, "Expected `int"),
    ],
)
def test_lines_that_cannot_be_imported(fields: dict[str, Any], reason: str):
    with pytest.raises(ValueError, match=reason):
        check_line(1, json.dumps(a_line(**fields)).encode(), NOW_MS)


async def test_an_import_says_what_came_of_each_line_and_may_be_repeated(stage: Stage):
    lines: list[dict[str, Any] | str] = [
        a_line(stage),
        "",
        "{nonsense",
        a_line(stage, content="another", id=mid(5), createdAtMs=None, createdAt="2020-01-01T00:00:00.500Z"),
        a_line(stage, conversationId=mid(404)),
        a_line(stage, conversationId=None, participantIds=[uid("ann"), uid("bob")], content="direct"),
        a_line(stage, conversationId=None, participantIds=[uid("ann"), uid("nobody")]),
    ]
    report = await bring(stage, *lines)
    assert (report.imported, report.present) == (3, 0)
    assert [number for number, _ in report.refused] == [3, 5, 7]
    page = await stage.page()
    assert [(one.content, one.source, one.sender_name) for one in page.items] == [
        ("another", "archived", "Bob of old"),
        ("long ago", "archived", "Bob of old"),
    ]
    report = await bring(stage, *lines)
    assert (report.imported, report.present) == (0, 3)
    assert (await stage.page()).items == page.items
    direct = await stage.create("bob", "ann", kind="direct")
    assert not direct.fresh
    assert [one.content for one in (await stage.page()).items] == ["direct"]


def test_a_file_of_another_form_takes_no_longer_by_the_line_the_more_it_has():
    def refuse(lines: int) -> None:
        importing = import_archive(cast(Any, None), [b"{"] * lines, now_ms=NOW_MS, new_id=str)
        with pytest.raises(StopIteration) as end:
            importing.send(None)  # the database is not asked
        assert len(end.value.value.refused) == lines

    assert cpu_seconds(lambda: refuse(16_000)) < 8 * cpu_seconds(lambda: refuse(4_000))


async def test_messages_of_one_moment_are_kept_apart(stage: Stage):
    stage.now_ms = OLD_MS
    live = await stage.post()
    stage.now_ms = NOW_MS
    await bring(stage, *(a_line(stage, content=f"text {number}") for number in range(3)))
    items = (await stage.page()).items
    assert [one.created_at_ms - OLD_MS for one in items] == [0, 1, 2, 3]
    assert items[0].id == live.id
    assert [one.content for one in items[1:]] == ["text 0", "text 1", "text 2"]


@pytest.mark.parametrize("live", [0, 5, 119, 125])
@pytest.mark.parametrize("limit", [7, 120])
async def test_paging_over_both_is_exact(stage: Stage, live: int, limit: int):
    """Between the live messages, before and after them; with the archive and without it."""
    stage.now_ms = OLD_MS
    await stage.fill(live)
    stage.now_ms = NOW_MS
    moments = [OLD_MS - 1_000 + number * 9 for number in range(130)]
    await bring(stage, *(a_line(stage, content=str(ms), createdAtMs=ms) for ms in moments))
    await stage.post("ann", "after all of it")
    for archived, total in ((True, live + 131), (False, live + 1)):
        seen: list[int] = []
        before_ms = None
        while True:
            page = await stage.page(limit=limit, before_ms=before_ms, include_archived=archived)
            seen = [one.created_at_ms for one in page.items] + seen
            if not page.has_more:
                break
            before_ms = page.next_before_ms
        assert seen == sorted(set(seen))
        assert len(seen) == total
    assert await stage.loaded(stage.id) == lasting(stage.state)


async def test_archived_messages_cannot_be_changed(stage: Stage):
    await bring(stage, a_line(stage, id=mid(5)))
    for command in (EditMessage(uid("bob"), mid(5), "x"), VotePoll(uid("bob"), mid(5), ("1",))):
        with pytest.raises(Conflict):
            await stage.do(command)
    marker = await stage.do(MarkRead(uid("bob"), mid(5)))
    assert marker.last_read_at_ms is None


async def test_up_to_a_newer_archived_message_the_live_ones_are_read(stage: Stage):
    sent = []
    for name in ("ann", "bob", "ann", "ann"):
        stage.now_ms += 1_000
        sent.append(await stage.post(name))
    stage.now_ms += 120_000
    for id, before in ((mid(900), sent[2]), (mid(901), sent[3])):
        await bring(stage, a_line(stage, id=id, createdAtMs=before.created_at_ms + 500))
    shown = [one.id for one in (await stage.page(limit=10)).items]
    assert shown[-1] == mid(901)
    for read, unread, until in ((mid(900), 1, sent[2]), (mid(901), 0, sent[3]), (mid(900), 0, sent[3])):
        marker = await stage.do(MarkRead(uid("bob"), read))
        assert (marker.unread_count, marker.last_read_at_ms) == (unread, until.created_at_ms)
    assert await stage.loaded(stage.id) == lasting(stage.state)


async def test_old_messages_move_but_counts_and_pages_stay(stage: Stage):
    for name in ("ann", "bob", "cid", "bob"):
        await stage.post(name)
    poll = await stage.post("ann", "open", poll=a_poll())
    await stage.fill(120, "cid")
    await stage.post("bob")
    before = await stage.page(limit=120)
    older = await stage.page(limit=120, before_ms=before.next_before_ms)
    counts = {id: standing(stage.state, member) for id, member in stage.state.members.items()}
    assert await archive_old(stage.database, before_ms=NOW_MS + 10**9) == 5
    await stage.do(TellArchive())
    assert await stage.loaded(stage.id) == lasting(stage.state)
    assert {id: standing(stage.state, member) for id, member in stage.state.members.items()} == counts
    assert (await stage.page(limit=120)).items == before.items
    moved = await stage.page(limit=120, before_ms=before.next_before_ms)
    assert [one.id for one in moved.items] == [one.id for one in older.items]
    sources = [one.source for one in moved.items]
    assert sources == ["archived"] * 4 + ["live"] + ["archived"]
    assert moved.items[4].id == poll.id
    assert await archive_old(stage.database, before_ms=NOW_MS + 10**9) == 0
    marker = await stage.do(MarkRead(uid("bob"), stage.state.window[-1].id))
    assert marker.unread_count == 0
    await stage.post("bob")
    assert standing(stage.state, stage.state.members[uid("bob")]).unread == 0
    assert await stage.loaded(stage.id) == lasting(stage.state)


async def test_young_messages_and_the_newest_stay(stage: Stage):
    await stage.fill(130)
    assert await archive_old(stage.database, before_ms=NOW_MS - 500) == 0
    assert await archive_old(stage.database, before_ms=NOW_MS + 10**6, most=4) == 4
    assert await archive_old(stage.database, before_ms=NOW_MS + 10**6) == 6
