"""Wire: votes in the polls of articles are counted exactly."""

from typing import Any

import msgspec
import pytest
import trio

from actors.errors import Conflict
from actors.news import units_articles
from actors.news.fields import ArticlePatch, checked
from actors.news.rights import Writer
from persistence.users.audit import Stamp
from tests.news.play import NEWS, POLL, PUBLIC, ahead, change, editor, write
from tests.support.one_world import in_one_world
from tests.support.world import Player, World
from tests.users.play import erase

VOTERS = 50


async def vote(player: Player, article: Any, *option_ids: str) -> Any:
    """The article after a vote."""
    return await player.do("POST", f"{NEWS}/{article['id']}/poll/vote", {"optionIds": option_ids}, status=200)


def counts(article: Any) -> tuple[list[int], int, int]:
    poll = article["poll"]
    return [option["votes"] for option in poll["options"]], poll["totalVotes"], poll["totalVoters"]


async def test_a_choice_is_replaced_and_withdrawn(world: World) -> None:
    ed, ann, ben = await editor(world), *(await world.players("Ann", "Ben"))
    made = await write(ed, poll={**POLL, "multiple": True})
    assert counts(made) == ([0, 0], 0, 0)
    await vote(ben, made, "2")
    for chosen, expected in (
        (["1"], ([1, 1], 2, 2)),
        (["2", "1"], ([1, 2], 3, 2)),
        (["2"], ([0, 2], 2, 2)),
        ([], ([0, 1], 1, 1)),
    ):
        for _ in range(2):
            voted = await vote(ann, made, *chosen)
            assert counts(voted) == expected
            assert [o["id"] for o in voted["poll"]["options"] if o["selected"]] == sorted(chosen)
            assert await ann.get(f"{NEWS}/{made['id']}") == voted
            assert (await ann.get(NEWS))["items"] == [voted]
    seen = await ben.get(f"{NEWS}/{made['id']}")
    assert [option["selected"] for option in seen["poll"]["options"]] == [False, True]
    public = await world.nobody().get(f"{PUBLIC}/{made['id']}")
    assert counts(public) == ([0, 1], 1, 1)
    assert all("selected" not in option for option in public["poll"]["options"])
    assert ben.id not in str(public)


async def test_fifty_voters_at_once_are_fifty_votes(world: World) -> None:
    ed = await editor(world)
    made = await write(ed, poll=POLL)
    voters = [await world.player(f"v{number}", known=False) for number in range(VOTERS)]
    async with trio.open_nursery() as nursery:
        for number, voter in enumerate(voters):
            nursery.start_soon(vote, voter, made, str(1 + number % 2))
            nursery.start_soon(vote, voter, made, str(1 + number % 2))
    assert counts(await ed.get(f"{NEWS}/{made['id']}")) == ([VOTERS / 2, VOTERS / 2], VOTERS, VOTERS)


@pytest.mark.parametrize("poll", [POLL, None])
async def test_a_change_that_waited_until_somebody_has_voted(world: World, poll: Any) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    made = await write(ed, poll=POLL, status="scheduled", publishAt=ahead(world, 60_000))
    began_ms = world.clock.now_ms()
    world.advance(60_000)
    voted = await vote(ann, made, "1")
    writer = Writer(ed.id, True, Stamp("f" * 24, began_ms, ed.id, None))
    wish = checked(msgspec.convert({"poll": poll}, ArticlePatch), began_ms)
    with pytest.raises(Conflict):
        await world.service.database.transact(units_articles.change, made["id"], wish, writer)
    assert counts(await ann.get(f"{NEWS}/{made['id']}")) == counts(voted) == ([1, 0], 1, 1)


@in_one_world(
    ("option_ids", "pointer", "code"),
    [
        (["1", "2"], "/optionIds", "TOO_MANY"),
        (["9"], "/optionIds/0", "UNKNOWN"),
        (["1"] * 3, "/optionIds", "TOO_MANY"),
    ],
)
async def test_choices_that_are_refused(world: World, option_ids: list[str], pointer: str, code: str) -> None:
    ed = await editor(world)
    made = await write(ed, poll=POLL)
    answer = await ed.ask("POST", f"{NEWS}/{made['id']}/poll/vote", {"optionIds": option_ids})
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"], error["code"]) == (422, pointer, code)


async def test_a_poll_closes_at_its_end_and_with_its_article(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    expiring = await write(ed, poll={**POLL, "expiresAtMs": world.clock.now_ms() + 60_000})
    archived = await write(ed, poll=POLL)
    await vote(ann, archived, "1")
    world.advance(60_000)
    await change(ed, archived, status="archived")
    for article, reason, total in ((expiring, "expired", 0), (archived, "manual", 1)):
        path = f"{NEWS}/{article['id']}"
        assert await ann.refused("POST", f"{path}/poll/vote", {"optionIds": ["1"]}) == (409, "POLL_CLOSED")
        poll = (await ed.get(path))["poll"]
        assert (poll["closed"], poll["closeReason"], poll["totalVotes"]) == (True, reason, total)
    back = await change(ed, archived, status="published")
    assert back["poll"]["closed"]
    assert await ann.refused("POST", f"{NEWS}/{archived['id']}/poll/vote", {"optionIds": []}) == (
        409,
        "POLL_CLOSED",
    )


async def test_the_poll_of_a_draft_that_was_put_away_is_open(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    draft = await write(ed, poll=POLL, status="draft")
    assert not (await change(ed, draft, status="archived"))["poll"]["closed"]
    assert counts(await vote(ann, await change(ed, draft, status="published"), "1")) == ([1, 0], 1, 1)


async def test_no_poll_ends_before_its_article_appears(world: World) -> None:
    ed = await editor(world)
    poll = {**POLL, "expiresAtMs": world.clock.now_ms() + 60_000}
    made = await write(ed, poll=poll, status="scheduled", publishAt=ahead(world, 30_000))
    draft = await write(ed, poll=poll, status="draft")
    late = {"status": "scheduled", "publishAt": ahead(world, 60_001)}
    for article in (made, draft):
        answer = await ed.ask("PATCH", f"{NEWS}/{article['id']}", late)
        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["pointer"], error["code"]) == (422, "/poll/expiresAtMs", "PAST")
    assert (await change(ed, made, **late, poll=None))["poll"] is None
    put_away = await write(ed, poll=poll, status="draft")
    await change(ed, put_away, status="archived")
    world.advance(60_000)
    for article in (draft, put_away):
        answer = await ed.ask("PATCH", f"{NEWS}/{article['id']}", {"status": "published"})
        (error,) = answer.json()["errors"]
        assert (answer.status_code, error["pointer"], error["code"]) == (422, "/poll/expiresAtMs", "PAST")
    longer = {**POLL, "expiresAtMs": world.clock.now_ms() + 60_000}
    assert not (await change(ed, draft, status="published", poll=longer))["poll"]["closed"]


async def test_only_who_may_read_may_vote(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    draft = await write(ed, poll=POLL, status="draft")
    later = await write(ed, poll=POLL, status="scheduled", publishAt=ahead(world, 60_000))
    bare = await write(ed)
    for article in (draft, later, bare):
        path = f"{NEWS}/{article['id']}/poll/vote"
        assert await ann.refused("POST", path, {"optionIds": ["1"]}) == (404, "NOT_FOUND")
    assert (await world.nobody().refused("POST", f"{NEWS}/{bare['id']}/poll/vote", {"optionIds": []}))[
        0
    ] == 401


async def test_a_poll_is_fixed_once_it_is_published(world: World) -> None:
    ed = await editor(world)
    draft = await write(ed, poll=POLL, status="draft")
    assert (await change(ed, draft, poll=None))["poll"] is None
    other = {**POLL, "question": "Who?"}
    assert (await change(ed, draft, poll=other, status="published"))["poll"]["question"] == "Who?"
    for poll in (POLL, None):
        assert await ed.refused("PATCH", f"{NEWS}/{draft['id']}", {"poll": poll}) == (409, "INVALID_STATE")


async def test_the_vote_of_an_erased_user_stays_without_them(world: World) -> None:
    ed, ann = await editor(world), await world.player("Ann")
    made = await write(ed, poll=POLL)
    await vote(ann, made, "1")
    await erase(world, ann)
    assert counts(await ed.get(f"{NEWS}/{made['id']}")) == ([1, 0], 1, 1)
    kept = await world.service.database.read(
        lambda conn: conn.fetch("SELECT user_id FROM news_votes WHERE news_id = $1", made["id"])
    )
    assert [row["user_id"] for row in kept] == [None]
