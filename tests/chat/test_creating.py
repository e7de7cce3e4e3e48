"""Making conversations, or finding the one that is there."""

import pytest
import trio

from actors.chat.commands import AddParticipants, RemoveParticipant
from actors.chat.units import ConversationDraft, Created, create, plan
from actors.errors import Invalid
from persistence.bridge.database import Database
from tests.chat.play import NOW_MS, mid, uid
from tests.chat.stage import NAMES, Stage, make_users, open_stage


def a_draft(kind: str, *names: str, title: str | None = None) -> ConversationDraft:
    return ConversationDraft(kind=kind, participant_ids=tuple(map(uid, names)), title=title)


@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        (a_draft("channel", "bob"), ("/kind", "UNKNOWN")),
        (a_draft("direct"), ("/participantIds", "TOO_FEW")),
        (a_draft("direct", "ann"), ("/participantIds", "TOO_FEW")),
        (a_draft("direct", "bob", "cid"), ("/participantIds", "TOO_MANY")),
        (a_draft("group"), ("/participantIds", "TOO_FEW")),
        (a_draft("group", *(f"user{number}" for number in range(1_024))), ("/participantIds", "TOO_MANY")),
        (a_draft("direct", "bob", title="x"), ("/title", "NOT_ALLOWED")),
        (a_draft("group", "bob", title="x" * 101), ("/title", "TOO_LONG")),
        (a_draft("group", "bob", title="a\tb"), ("/title", "BAD_TEXT")),
    ],
)
def test_broken_drafts_are_refused(draft: ConversationDraft, expected: tuple[str, str]):
    with pytest.raises(Invalid) as caught:
        plan(draft, uid("ann"), id=mid(1), epoch="e", now_ms=NOW_MS)
    assert [(error.pointer, error.code) for error in caught.value.errors] == [expected]


def test_the_caller_is_added_and_repetitions_are_passed_over():
    draft = a_draft("group", "bob", "ann", "bob", "cid", title=" Raid ")
    creation = plan(draft, uid("ann"), id=mid(1), epoch="e", now_ms=NOW_MS)
    assert creation.member_ids == tuple(map(uid, ("ann", "bob", "cid")))
    assert (creation.row.title, creation.row.owner_id) == ("Raid", uid("ann"))
    direct = plan(a_draft("direct", "bob", "bob"), uid("ann"), id=mid(1), epoch="e", now_ms=NOW_MS)
    assert direct.row.owner_id is None


async def make(database: Database, number: int, caller: str, draft: ConversationDraft) -> Created:
    creation = plan(draft, uid(caller), id=mid(number), epoch="e", now_ms=NOW_MS + number)
    return (await database.transact(create, creation)).value


async def test_the_same_set_is_the_same_conversation(database: Database):
    await database.transact(make_users, NAMES)
    first = await make(database, 1, "ann", a_draft("direct", "bob"))
    again = await make(database, 2, "bob", a_draft("direct", "ann"))
    assert (first.fresh, again.fresh) == (True, False)
    assert again.conversation.facts == first.conversation.facts
    group = await make(database, 3, "ann", a_draft("group", "bob"))
    assert group.fresh
    assert group.conversation.facts.id == mid(3)
    assert not (await make(database, 4, "bob", a_draft("group", "ann"))).fresh


async def test_two_who_make_it_at_once_get_one(database: Database):
    await database.transact(make_users, NAMES)
    made: list[Created] = []

    async def one(number: int) -> None:
        made.append(await make(database, number, "ann", a_draft("group", "bob", "cid")))

    async with trio.open_nursery() as nursery:
        for number in range(1, 9):
            nursery.start_soon(one, number)
    assert len({created.conversation.facts.id for created in made}) == 1
    assert [created.fresh for created in made].count(True) == 1


async def test_unknown_users_are_named(database: Database):
    await database.transact(make_users, ["ann", "bob"])
    with pytest.raises(Invalid) as caught:
        await make(database, 1, "ann", a_draft("group", "bob", "nobody"))
    assert [error.pointer for error in caught.value.errors] == ["/participantIds/1"]


async def found(stage: Stage, *names: str) -> str:
    created = await make(stage.database, 900 + stage.number, names[0], a_draft("group", *names[1:]))
    stage.number += 1
    return created.conversation.facts.id


async def test_a_group_is_found_by_its_present_set(database: Database):
    stage = await open_stage(database, "ann", "bob", "cid")
    older = stage.id
    await stage.create("ann", "bob")
    newer = stage.id
    await stage.do(AddParticipants(uid("ann"), (uid("cid"),)))
    assert await found(stage, "ann", "bob", "cid") == older
    await stage.enter(older)
    await stage.do(RemoveParticipant(uid("ann"), uid("bob")))
    assert await found(stage, "ann", "bob", "cid") == newer
    assert await found(stage, "cid", "ann") == older
    assert await found(stage, "ann", "bob") not in (older, newer)
