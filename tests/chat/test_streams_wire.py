"""Wire: the two single-purpose streams, and the stream of an older page."""

from typing import Any

import pytest
import trio

from actors.chat.window import WINDOW_LINES
from tests.chat.history import import_history
from tests.support.one_world import in_one_world
from tests.support.spec import spec
from tests.support.websocket import Client, Refused
from tests.support.world import CONVERSATIONS, Player, Room, World
from tests.users.play import erase

INBOX = "/v1/social/chat/live"

QUIET_SECONDS = 0.4
"""So long nothing may come where nothing has changed; a delivery takes some milliseconds."""


async def pair(world: World) -> tuple[Player, Player, Room]:
    ann, ben = await world.players("Ann", "Ben")
    return ann, ben, await ann.talk_to(ben, kind="group")


async def assert_quiet(socket: Client) -> None:
    """Nothing comes."""
    with pytest.raises(trio.TooSlowError):
        await socket.receive_text(patience_seconds=QUIET_SECONDS)


def contents(frame: Any) -> list[str]:
    return [item["content"] for item in frame["items"]]


@pytest.mark.both_edges
async def test_a_conversation_is_shown_at_once_and_on_change(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await ann.say(room, "one")
    async with ben.live(f"{room.path}/live?interval=0") as socket:
        first = await socket.receive_json()
        spec().check_frame("MessagePage", first)
        assert (contents(first), first["hasMore"]) == (["one"], False)
        own = ("unreadCount", "mentionCount", "lastReadAtMs", "muted")
        assert [first["conversation"][name] for name in own] == [None] * 4
        await ann.say(room, "two")
        assert contents(await socket.receive_json()) == ["one", "two"]
        await ann.do("PATCH", room.message(sent["id"]), {"content": "uno"})
        assert contents(await socket.receive_json()) == ["uno", "two"]
        await ann.do("DELETE", room.message(sent["id"]))
        assert contents(await socket.receive_json()) == ["", "two"]
        # What does not change the thread makes no frame.
        await ann.do("POST", f"{room.path}/typing")
        await ann.do("PUT", f"{room.path}/read", {"messageId": sent["id"]})
        await assert_quiet(socket)
        page = await ben.get(room.messages)
        await ann.do("PATCH", room.path, {"title": "Crew"})
        last = await socket.receive_json()
        assert (last["conversation"]["title"], last["items"]) == ("Crew", page["items"])


async def test_limit_and_votes_are_the_viewers_own(world: World) -> None:
    ann, ben, room = await pair(world)
    await ann.say(room, "one")
    poll = {"question": "?", "options": [{"label": "a"}, {"label": "b"}]}
    sent = await ann.do("POST", room.messages, {"poll": poll})
    async with ann.live(f"{room.path}/live?limit=1") as anns, ben.live(f"{room.path}/live?limit=999") as bens:
        assert len((await anns.receive_json())["items"]) == 1
        assert len((await bens.receive_json())["items"]) == 2
        await ben.do("POST", f"{room.message(sent['id'])}/poll/vote", {"optionIds": ["2"]})
        for socket, selected in ((anns, False), (bens, True)):
            option = (await socket.receive_json())["items"][-1]["poll"]["options"][1]
            assert (option["votes"], option["selected"]) == (1, selected)


async def test_a_poll_event_has_no_selected_and_the_choice_beside_it(world: World) -> None:
    ann, ben, room = await pair(world)
    poll = {"question": "?", "options": [{"label": "a"}, {"label": "b"}]}
    sent = await ann.do("POST", room.messages, {"poll": poll})
    async with ann.live("/v1/social/live?channels=") as anns, ben.live("/v1/social/live?channels=") as bens:
        for socket in (anns, bens):
            await socket.send_json({"op": "subscribe", "channel": room.channel, "params": {"mode": "delta"}})
            while (await socket.receive_json())["type"] != "snapshot":
                pass
        for chosen in (["2"], []):
            await ben.do("POST", f"{room.message(sent['id'])}/poll/vote", {"optionIds": chosen})
            for socket, own in ((anns, []), (bens, chosen)):
                event = await socket.receive_json()
                spec().check_frame("Event", event)
                assert event["event"] == "poll_updated"
                assert event["self"] == {"messageId": sent["id"], "selected": own}
                options = event["data"]["poll"]["options"]
                assert [option["votes"] for option in options] == [0, len(chosen)]
                assert all("selected" not in option for option in options)
    await ben.do("POST", f"{room.message(sent['id'])}/poll/vote", {"optionIds": ["1"]})
    await ann.do("PATCH", room.message(sent["id"]), {"content": "edited"})
    past = (await ben.get(f"{room.path}/events?since=0"))["items"]
    assert [item["event"] for item in past] == ["message_created", *["poll_updated"] * 3, "message_edited"]
    assert "selected" not in str([item["data"] for item in past])


async def test_an_older_page_changes_only_with_its_items(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = [await ann.say(room, str(number)) for number in range(6)]
    await ann.do("PUT", f"{room.path}/read", {"messageId": sent[5]["id"]})
    before_ms = sent[4]["createdAtMs"]
    async with ben.live(f"{room.path}/live?limit=2&beforeMs={before_ms}") as socket:
        first = await socket.receive_json()
        spec().check_frame("MessagePage", first)
        assert (contents(first), first["hasMore"]) == (["2", "3"], True)
        assert first["nextBeforeMs"] == sent[2]["createdAtMs"]
        assert first["conversation"]["unreadCount"] is None
        await ann.say(room, "new")
        await ann.do("PATCH", room.message(sent[1]["id"]), {"content": "older"})
        await ann.do("PATCH", room.message(sent[4]["id"]), {"content": "newer"})
        await assert_quiet(socket)
        # Changes within a second are one frame; how many seconds these take is up to the machine.
        for text in ("a", "b", "c"):
            await ann.do("PATCH", room.message(sent[3]["id"]), {"content": text})
        told = [contents(await socket.receive_json())]
        while told[-1] != ["2", "c"]:
            told.append(contents(await socket.receive_json()))
        assert told == [page for page in (["2", "a"], ["2", "b"], ["2", "c"]) if page in told]
        await ann.do("DELETE", room.message(sent[2]["id"]))
        assert contents(await socket.receive_json()) == ["", "c"]


async def test_an_older_page_takes_in_history_that_is_imported(world: World) -> None:
    ann, ben, room = await pair(world)
    began_ms = world.clock.now_ms() - 10**7
    # More than the conversation has in memory, where nothing changes by what is older.
    await import_history(world, room, ann, [began_ms + 10 * number for number in range(WINDOW_LINES + 10)])
    async with ben.live(f"{room.path}/live?limit=2&beforeMs={began_ms + 15}") as socket:
        assert contents(await socket.receive_json()) == ["old 0", "old 1"]
        await import_history(world, room, ann, [began_ms + 5], text="between")
        assert contents(await socket.receive_json()) == ["between 0", "old 1"]
        # What lies outside of the page leaves it alone, also where the conversation has got another message.
        await ann.say(room, "new")
        await import_history(world, room, ann, [began_ms - 10, began_ms + 25], text="beside")
        await assert_quiet(socket)


@in_one_world("later", [1, WINDOW_LINES], ids=["in memory", "in rows alone"])
async def test_an_older_page_forgets_the_name_of_a_user_who_is_erased(world: World, later: int) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ben.talk_to(ann, cid)
    await ann.say(room, "one")
    for number in range(later):
        world.clock.advance(3000)
        said = await (ben, cid)[number % 2].say(room, str(number))
        if number == 0:
            before_ms = said["createdAtMs"]
    async with cid.live(f"{room.path}/live?beforeMs={before_ms}") as socket:
        assert [one["senderName"] for one in (await socket.receive_json())["items"]] == ["Ann"]
        await erase(world, ann)
        assert [one["senderName"] for one in (await socket.receive_json())["items"]] == ["deleted"]


async def test_a_page_before_the_future_takes_new_messages_in(world: World) -> None:
    ann, ben, room = await pair(world)
    far_ms = world.clock.now_ms() + 10**9
    async with ben.live(f"{room.path}/live?beforeMs={far_ms}") as socket:
        assert contents(await socket.receive_json()) == []
        await ann.say(room, "one")
        assert contents(await socket.receive_json()) == ["one"]


@pytest.mark.both_edges
async def test_the_inbox_is_shown_at_once_and_on_change(world: World) -> None:
    ann, ben, room = await pair(world)
    async with ben.live(INBOX) as socket:
        first = await socket.receive_json()
        spec().check_frame("InboxSnapshot", first)
        assert first["type"] == "inbox_snapshot"
        assert [one["id"] for one in first["conversations"]] == [room.id]
        assert first["totals"] == {"unread": 0, "mentions": 0}
        sent = await ann.say(room, f"hi <@user:{ben.id}>", mentions=[{"id": ben.id}])
        told = await socket.receive_json()
        assert told["totals"] == {"unread": 1, "mentions": 1}
        assert told["conversations"] == (await ben.get(CONVERSATIONS))["items"]
        await ben.do("PUT", f"{room.path}/read", {"messageId": sent["id"]})
        assert (await socket.receive_json())["totals"] == {"unread": 0, "mentions": 0}
        await ben.do("PATCH", room.path, {"muted": True})
        assert (await socket.receive_json())["conversations"][0]["muted"] is True
        other = await ann.talk_to(ben)
        appeared = await socket.receive_json()
        assert [one["id"] for one in appeared["conversations"]] == [other.id, room.id]
        await ann.do("DELETE", f"{room.path}/participants/{ben.id}")
        assert [one["id"] for one in (await socket.receive_json())["conversations"]] == [other.id]


@pytest.mark.both_edges
@pytest.mark.slow
async def test_the_inbox_sends_at_most_four_frames_a_second(world: World) -> None:
    ann, ben, room = await pair(world)
    arrived: list[float] = []
    async with ben.live(INBOX) as socket:
        await socket.receive_json()
        started = trio.current_time()
        for number in range(28):
            await ann.say(room, str(number))
        frame: Any = None
        while frame is None or frame["totals"]["unread"] < 28:
            frame = await socket.receive_json()
            arrived.append(trio.current_time())
    # One at once, and one for each 250 ms begun, however long it took: what was sent may arrive later, never earlier.
    assert len(arrived) <= 2 + int((arrived[-1] - started) / 0.25)


@pytest.mark.both_edges
async def test_what_the_client_says_is_passed_over(world: World) -> None:
    ann, ben, room = await pair(world)
    async with ben.live(f"{room.path}/live") as socket:
        await socket.receive_json()
        await socket.send_text("hello?")
        await socket.send_json({"op": "ping", "id": 1})
        await ann.say(room, "one")
        assert contents(await socket.receive_json()) == ["one"]


@pytest.mark.both_edges
async def test_a_flood_closes_with_4429(world: World) -> None:
    _, ben, room = await pair(world)
    world.clock.stop()
    async with ben.live(f"{room.path}/live") as socket:
        for _ in range(150):
            await socket.send_text("hello?")
        assert (await socket.wait_closed()).code == 4429


@pytest.mark.both_edges
@in_one_world(
    "query", ["limit=x", "limit=1.5", "interval=x", "beforeMs=x", "beforeMs=1.5", "includeArchived=2"]
)
async def test_intervals_limits_and_cursors_are_numbers(world: World, query: str) -> None:
    _, ben, room = await pair(world)
    with pytest.raises(Refused) as refused:
        async with ben.live(f"{room.path}/live?{query}"):
            pass
    assert (refused.value.status, refused.value.problem["code"]) == (400, "BAD_QUERY")


@pytest.mark.both_edges
async def test_leaving_closes_the_stream_with_4403(world: World) -> None:
    ann, ben, room = await pair(world)
    sent = await ann.say(room, "one")
    async with (
        ben.live(f"{room.path}/live") as newest,
        ben.live(f"{room.path}/live?beforeMs={sent['createdAtMs'] + 1}") as older,
        ann.live(f"{room.path}/live") as anns,
    ):
        for socket in (newest, older, anns):
            await socket.receive_json()
        await ann.do("DELETE", f"{room.path}/participants/{ben.id}")
        assert (await newest.wait_closed()).code == 4403
        assert (await older.wait_closed()).code == 4403
        assert (await anns.receive_json())["conversation"]["participantCount"] == 1


@pytest.mark.both_edges
@in_one_world("path", ["ROOM/live", "ROOM/live?beforeMs=99999999999999", INBOX])
async def test_losing_the_permission_closes_with_4403(world: World, path: str) -> None:
    _, ben, room = await pair(world)
    async with ben.live(path.replace("ROOM", room.path)) as socket:
        await socket.receive_json()
        await world.grant(ben, "social:chat.read", negated=True)
        assert (await socket.wait_closed()).code == 4403


@pytest.mark.both_edges
@pytest.mark.slow
@pytest.mark.parametrize("path", ["ROOM/live", INBOX])
async def test_the_end_of_the_token_closes_with_4401(world: World, path: str) -> None:
    _, ben, room = await pair(world)
    async with ben.live(path.replace("ROOM", room.path)) as socket:
        await socket.receive_json()
        world.clock.advance(3_600_000)
        assert (await socket.wait_closed()).code == 4401
