"""Wire: invites that come and go reach somebody no oftener than they should, and drive out nothing."""

import pytest

from persistence.notifications.notifications import OF_PAIR_MAX
from routes.rates import INVITE
from tests.connect.play import claimed
from tests.friends.play import ask
from tests.party.play import INVITES, PARTY, invite
from tests.support.world import Player, World

QUOTA = INVITE.quota


async def kinds(player: Player) -> list[str]:
    return [one["kind"] for one in (await player.get("/v1/notifications"))["items"]]


@pytest.mark.one_node(because="it counts to the last token")
async def test_invites_that_come_and_go_leave_one_notification(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await ask(cid, ben)
    party_id = (await ann.do("POST", PARTY, status=200))["party"]["id"]
    async with ben.live("/v1/social/live?channels=notifications") as socket:
        first = await socket.receive_until(type="snapshot", channel="notifications")
        assert first["data"]["unread"] == 1
        for number in range(QUOTA):
            await invite(ann, ben)
            if number % 2:
                await ann.do("DELETE", f"{INVITES}/{party_id}/{ben.id}")
            else:
                await ben.do("POST", f"{INVITES}/{party_id}/decline")
        frame = first
        while frame["offset"] < QUOTA + 1:
            frame = await socket.receive_until(type="snapshot", channel="notifications")
        # What clients see live is what they are answered.
        listed = (await ben.get("/v1/notifications"))["items"]
        assert frame["data"]["items"] == listed
        assert frame["data"]["unread"] == 2
    assert [one["kind"] for one in listed] == ["party_invite", "friend_request"]
    refused = await ann.ask("POST", INVITES, {"targetId": ben.id})
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert refused.headers["ratelimit"].startswith('"invite";r=0;'), "not the rate that has plenty left"
    # It is counted for the two of them.
    await invite(ann, cid)
    await invite(cid, ben)
    world.clock.advance(INVITE.window_seconds * 1000)
    await invite(ann, ben)


async def test_clients_that_come_back_are_told_rightly(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    party_id = (await ann.do("POST", PARTY, status=200))["party"]["id"]
    seen = {}
    for _ in range(2):
        await invite(ann, ben)
        await ann.do("DELETE", f"{INVITES}/{party_id}/{ben.id}")
        async with ben.live("/v1/social/live?channels=notifications") as socket:
            seen = seen or await socket.receive_until(type="snapshot", channel="notifications")
    async with ben.live("/v1/social/live?channels=") as socket:
        await socket.receive_until(type="hello")
        since = {"epoch": seen["epoch"], "offset": seen["offset"]}
        await socket.send_json(
            {
                "id": 1,
                "op": "subscribe",
                "channel": "notifications",
                "since": since,
                "params": {"mode": "delta"},
            }
        )
        assert (await socket.receive_json())["recovered"] is True
        told = await socket.receive_json()
        assert (told["event"], told["offset"]) == ("notification_added", seen["offset"] + 1)
        assert told["data"]["unread"] == 1
        # What came before it is gone, and so is its history.
        await socket.send_json(
            {"id": 2, "op": "subscribe", "channel": "notifications",
             "since": {**since, "offset": 0}, "params": {"mode": "delta"}}
        )  # fmt: skip
        assert (await socket.receive_json())["recovered"] is False
        assert len((await socket.receive_json())["data"]["items"]) == 1


@pytest.mark.one_node(because="it counts to the last token")
async def test_invites_to_servers_come_no_oftener(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    server = await claimed(world, ann)
    path = f"/v1/connect/servers/{server.id}/invites"
    for _ in range(QUOTA):
        made = await ann.do("POST", path, {"inviteeUserId": ben.id, "role": "viewer"}, status=201)
        await ann.do("DELETE", f"{path}/{made['id']}")
    again = await ann.refused("POST", path, {"inviteeUserId": ben.id, "role": "viewer"})
    assert again == (429, "RATE_LIMITED")
    assert await kinds(ben) == ["server_invite"] * min(QUOTA, OF_PAIR_MAX["server_invite"])
