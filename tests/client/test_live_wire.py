"""Wire: the live socket of the Python client, over connections that break."""

from functools import partial

import pytest
import trio

from partyline.client import (
    Event,
    Grant,
    Partyline,
    Problem,
    Resumed,
    Snapshot,
    Subscription,
    Unreachable,
    credentials,
)
from partyline.client.backoff import Backoff
from partyline.client.closing import duty_after
from partyline.client.types import InboxSnapshot, Message
from tests.client.play import line_to, messages
from tests.support.waiting import patience, wait_until
from tests.support.world import World


async def test_what_is_sent_is_shown_to_who_watches(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with (
        Partyline(world.url, token=ann.token) as one,
        Partyline(world.url, token=ben.token) as other,
        other.live.subscribe(room.channel, mode="delta", limit=5) as shown,
    ):
        with patience():
            assert isinstance(await anext(shown), Snapshot)
            said = await one.live.send(room.channel, {"content": "hello"}, into=Message)
            event = await anext(shown)
            assert isinstance(event, Event) and event.as_(Message).id == said.id
            await other.live.read(room.channel, said.id)
            await other.live.typing(room.channel)
            assert (await anext(shown)).event == "read"  # type: ignore[union-attr]
            async with one.live.subscribe("inbox") as inbox:
                first = await anext(inbox)
                assert isinstance(first, Snapshot) and first.as_(InboxSnapshot).conversations[0].id == room.id


async def test_what_is_too_long_is_refused_and_ends_nothing(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with Partyline(world.url, token=ann.token) as client:
        with patience():
            with pytest.raises(Problem) as refused:
                await client.live.send(room.channel, {"content": "x" * 65_536})
            assert (refused.value.status, refused.value.code) == (413, "PAYLOAD_TOO_LARGE")
            assert (await client.live.send(room.channel, {"content": "hello"}))["content"] == "hello"


async def test_what_one_has_chosen_in_a_poll_comes_beside_it(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    poll = {"question": "Which?", "options": [{"label": "red"}, {"label": "blue"}]}
    asked = await ann.say(room, "", poll=poll)
    red, blue = (option["id"] for option in asked["poll"]["options"])
    async with (
        Partyline(world.url, token=ben.token) as client,
        client.live.subscribe(room.channel, mode="delta") as shown,
    ):
        with patience():
            assert isinstance(await anext(shown), Snapshot)
            for voter, option, own in ((ben, blue, [blue]), (ann, red, [blue])):
                await voter.do("POST", f"{room.message(asked['id'])}/poll/vote", {"optionIds": [option]})
                event = await anext(shown)
                assert isinstance(event, Event) and event.event == "poll_updated"
                assert event.own == {"messageId": asked["id"], "selected": own}
            await ann.say(room)
            told = await anext(shown)
            assert isinstance(told, Event) and told.own is None


async def test_what_is_sent_before_the_socket_is_open_comes_as_an_event(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with Partyline(world.url, token=ann.token) as client, trio.open_nursery() as nursery:
        nursery.start_soon(client.live.send, room.channel, {"content": "early"})
        async with client.live.subscribe(room.channel, mode="delta") as shown:
            assert await messages(shown, 1) == ["early"]


async def test_what_is_watched_just_as_the_socket_opens_is_asked_for_once(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    for _ in range(8):
        async with Partyline(world.url, token=ben.token) as client, client.live.subscribe("friends"):
            with patience():
                while client.live.state != "live":
                    await trio.lowlevel.checkpoint()
                async with client.live.subscribe(room.channel, mode="delta") as shown:
                    assert isinstance(await anext(shown), Snapshot)
                    await ann.say(room)
                    assert isinstance(await anext(shown), Event)


async def test_nothing_is_missed_and_nothing_comes_twice_over_a_cut(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with (
        line_to(world.url) as line,
        Partyline(line.url, token=ben.token) as client,
        client.live.subscribe(room.channel, mode="delta") as shown,
    ):
        with patience():
            await anext(shown)
            await ann.say(room, "one")
            assert await messages(shown, 1) == ["one"]
            line.is_dead = True
            line.cut()
            await ann.say(room, "two")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(client.live.send, room.channel, {"content": "three"}))
                await wait_until(lambda: _is(client, "waiting"))
                with pytest.raises(Unreachable):
                    await client.live.read(room.channel, "0" * 24)
                line.is_dead = False
                client.live.wake()
            resumed = await anext(shown)
            assert isinstance(resumed, Resumed) and resumed.recovered
            assert await messages(shown, 2) == ["two", "three"]
    assert [one["content"] for one in (await ann.get(room.messages))["items"]] == ["one", "two", "three"]


async def _is(client: Partyline, state: str) -> bool:
    return client.live.state == state


async def _waits(shown: Subscription, count: int) -> bool:
    return len(shown._unread) == count


async def test_who_does_not_read_is_shown_the_newest_state(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with (
        Partyline(world.url, token=ben.token) as client,
        client.live.subscribe(room.channel, mode="delta", most_unread=3) as shown,
    ):
        with patience():
            await anext(shown)
            for number in range(8):
                await client.live.send(room.channel, {"content": str(number)})
            await wait_until(lambda: _fell_behind(shown))
            assert await anext(shown) == Resumed(channel=room.channel, recovered=False)
            newest = await anext(shown)
            assert isinstance(newest, Snapshot) and newest.data["items"][-1]["content"] == "7"
            await ann.say(room, "more")
            assert await messages(shown, 1) == ["more"]
    assert client.live._last_id == 10, "one is sent when it is watched, and one when it is read"


async def _fell_behind(shown: Subscription) -> bool:
    return shown.is_behind


async def test_who_has_all_waiting_that_may_misses_nothing_over_a_cut(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with (
        line_to(world.url) as line,
        Partyline(line.url, token=ben.token) as client,
        client.live.subscribe(room.channel, mode="delta", most_unread=3) as shown,
    ):
        with patience():
            await wait_until(lambda: _waits(shown, 1))
            await ann.say(room, "one")
            await ann.say(room, "two")
            await wait_until(lambda: _waits(shown, 3))
            line.cut()
            await wait_until(lambda: _waits(shown, 4))
            assert isinstance(await anext(shown), Snapshot)
            assert await messages(shown, 2) == ["one", "two"]
            assert await anext(shown) == Resumed(channel=room.channel, recovered=True)
            await ann.say(room, "three")
            assert await messages(shown, 1) == ["three"]


async def test_who_wants_the_newest_alone_is_shown_it_and_asks_once_for_each_connection(world: World):
    ann, *others = await world.players("Ann", "Ben", "Cem", "Dan")
    async with (
        line_to(world.url) as line,
        Partyline(line.url, token=ann.token) as client,
        client.live.subscribe("inbox", most_unread=1) as shown,
    ):

        async def shows(count: int) -> bool:
            newest = shown._unread[-1] if shown._unread else None
            return isinstance(newest, Snapshot) and len(newest.data["conversations"]) == count

        with patience():
            for count, other in enumerate(others[:2], 1):
                await ann.talk_to(other)
                await wait_until(partial(shows, count))
            line.is_dead = True
            line.cut()
            await ann.talk_to(others[2])
            line.is_dead = False
            await wait_until(partial(shows, 3))
            assert await anext(shown) == Resumed(channel="inbox", recovered=False)
    assert client.live._last_id == 2


async def test_a_channel_that_is_watched_again_begins_with_its_snapshot(world: World):
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben, await world.player("Cem"))
    async with line_to(world.url) as line, Partyline(line.url, token=ben.token) as client:
        with patience():
            async with client.live.subscribe(room.channel, mode="delta") as shown:
                assert isinstance(await anext(shown), Snapshot)
                line.hold()
                await ann.say(room, "for the former subscription")
            async with client.live.subscribe(room.channel, mode="delta") as shown:
                line.let()
                assert isinstance(await anext(shown), Snapshot)
                line.hold()
                await ann.do("DELETE", f"{room.path}/participants/{ben.id}")
                await ann.do("POST", f"{room.path}/participants", {"userIds": [ben.id]})
            async with client.live.subscribe(room.channel, mode="delta") as shown:
                line.let()
                assert isinstance(await anext(shown), Snapshot)
                await ann.say(room, "hello")
                assert await messages(shown, 1) == ["hello"]


@pytest.mark.parametrize(
    ("content", "error"), [("x" * 65_536, Problem), ("\ud83d", UnicodeEncodeError), (object(), TypeError)]
)
@pytest.mark.parametrize("is_open", [True, False])
async def test_what_cannot_be_said_is_told_to_who_says_it(
    world: World, content: object, error: type[Exception], is_open: bool
):
    """And ends nothing else."""
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with Partyline(world.url, token=ann.token) as client:
        with patience():
            if is_open:
                await client.live.send(room.channel, {"content": "first"})
            with pytest.raises(error):
                await client.live.send(room.channel, {"content": content})
            with pytest.raises(UnicodeEncodeError):
                async with client.live.subscribe("conversation:\ud83d"):
                    pass
            assert (await client.live.send(room.channel, {"content": "hello"}))["content"] == "hello"


async def test_what_may_not_be_watched_ends_with_a_problem(world: World):
    ann = await world.player("Ann")
    async with Partyline(world.url, token=ann.token) as client:
        async with client.live.subscribe(f"conversation:{'0' * 24}") as shown:
            with patience(), pytest.raises(Problem) as caught:
                await anext(shown)
            assert caught.value.code == "CONVERSATION_NOT_FOUND"
        with patience(), pytest.raises(Problem):
            await client.live.send(f"conversation:{'0' * 24}", {"content": "hello"})
        async with client.live.subscribe("friends") as shown:
            with pytest.raises(ValueError, match="already"):
                await client.live.subscribe("friends").__aenter__()
            with pytest.raises(ValueError, match="at least one"):
                await client.live.subscribe("inbox", most_unread=0).__aenter__()
            with patience():
                assert isinstance(await anext(shown), Snapshot)


async def test_without_a_token_that_holds_it_ends(world: World):
    async def no_token() -> Grant | None:
        return None

    for options in ({}, {"token": "worn"}, {"token": "worn", "get_token": no_token}):
        async with Partyline(world.url, **options) as client, client.live.subscribe("inbox") as shown:  # type: ignore[arg-type]
            with patience(), pytest.raises(Problem) as caught:
                await anext(shown)
            assert caught.value.code == "UNAUTHENTICATED" and client.live.state == "closed"
            depths: list[int] = []
            for ask in 2 * [
                partial(client.live.send, "conversation:1", {"content": "hello"}),
                shown.__anext__,
            ]:
                with pytest.raises(Problem) as caught:
                    await ask()
                depths.append(len(caught.traceback))
            assert depths[:2] == depths[2:], "what is raised again keeps the frames of before alive"


async def test_a_token_that_is_refused_is_renewed(world: World):
    ann = await world.player("Ann")

    async def get_token() -> Grant | None:
        return Grant(ann.token or "")

    async with (
        Partyline(world.url, token="worn", get_token=get_token) as client,
        client.live.subscribe("inbox") as shown,
    ):
        with patience():
            assert isinstance(await anext(shown), Snapshot)


async def test_a_clock_that_is_behind_is_noticed_by_what_the_socket_says(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(credentials, "PAUSE_SECONDS", 0.0)
    world.advance(3_600_000)
    ann = await world.player("Ann")
    asked = 0

    async def get_token() -> Grant | None:
        nonlocal asked
        asked += 1
        return Grant(ann.token or "", world.clock.now_ms() / 1000 - 1)

    async with (
        Partyline(world.url, get_token=get_token) as client,
        client.live.subscribe("inbox") as shown,
    ):
        with patience():
            assert isinstance(await anext(shown), Snapshot)
        await client.rest.get("/v1/auth/verify")
    assert asked == 2


async def test_a_fault_of_the_block_comes_out_as_it_is(world: World):
    ann = await world.player("Ann")
    with pytest.raises(ZeroDivisionError):
        async with Partyline(world.url, token=ann.token) as client, client.live.subscribe("inbox"):
            raise ZeroDivisionError


@pytest.mark.parametrize(
    ("code", "stops", "renews", "least"),
    [
        (1000, False, False, 0),
        (1006, False, False, 0),
        (1011, False, False, 10),
        (4400, True, False, 0),
        (4401, False, True, 0),
        (4403, True, False, 0),
        (4429, False, False, 10),
        (4503, False, False, 0),
    ],
)
def test_each_close_code_has_its_duty(code: int, stops: bool, renews: bool, least: float):
    duty = duty_after(code)
    assert (duty.stops is not None, duty.renews, duty.least_seconds) == (stops, renews, least)


def test_pauses_double_up_to_a_bound_and_begin_anew():
    backoff = Backoff(lambda: 1.0)
    assert [backoff.next() for _ in range(7)] == [0.5, 1, 2, 4, 8, 15, 15]
    backoff.reset()
    assert (Backoff(lambda: 0.0).next(3), Backoff(lambda: 0.0).next()) == (3, 0.25)


def test_who_is_told_to_wait_together_comes_back_apart():
    assert [Backoff(lambda luck=luck: luck).next(8) for luck in (0.0, 0.5, 1.0)] == [8, 9, 10]
