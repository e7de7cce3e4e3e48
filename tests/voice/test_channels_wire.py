"""Wire: party channels, control, blocks, what one sees of it, and what becomes of it when a node goes."""

import jwt
from structlog.testing import capture_logs

from actors.voice.fleet import SILENCE_MS as NODE_SILENCE_MS
from routes.voice.jobs import end_doomed, look
from routes.voice.moving import JITTER_MS
from routes.voice.parts import ATTENDANCE
from tests.party.play import gather
from tests.support.refusing import allow, refuse
from tests.support.world import World
from tests.voice.play import VOICE, ended, join, minding, node, node_server, private, sync


def video_of(joined: dict) -> dict:
    """The grants of a token."""
    video: dict = jwt.decode(joined["session"]["token"], options={"verify_signature": False})["video"]
    return video


async def test_a_party_talks_and_is_kept_in_order(world: World):
    one = await node(world, await node_server(world))
    ann, ben, eve = await world.players("Ann", "Ben", "Eve")
    moderator = await world.ranked("Mod", "moderator")
    assert await ann.refused("POST", f"{VOICE}/channels/party", {}) == (404, "NOT_FOUND")
    await gather(ann, ben)
    channel_id = (await ann.do("POST", f"{VOICE}/channels/party", {}, status=201))["id"]
    assert (await ben.do("POST", f"{VOICE}/channels/party", {}, status=200))["id"] == channel_id
    assert await eve.refused("POST", f"{VOICE}/session/join", {"channelId": channel_id}) == (404, "NOT_FOUND")
    first, second = await join(ann, channel_id), await join(ben, channel_id)
    control = f"{VOICE}/channels/{channel_id}/control"
    assert await ann.refused("PUT", control, {"locked": True}) == (403, "FORBIDDEN")
    assert await moderator.refused("PUT", control, {"mutedIds": ["x"]}) == (422, "VALIDATION_FAILED")
    said = await moderator.do("PUT", control, {"locked": True, "mutedIds": [ben.id]}, status=200)
    assert said["control"] == {"locked": True, "mutedIds": [ben.id], "maxParticipants": 16}
    again = await sync(ben, second)
    assert video_of(again) == {
        "room": channel_id, "roomJoin": True, "canPublish": False, "canSubscribe": True, "canPublishData": False,
    }  # fmt: skip
    (told,) = await one.beat()
    assert (told["kind"], told["userId"]) == ("mute", ben.id)
    # Removed: no token for ten minutes, and the old one is void.
    await moderator.do("PUT", control, {"locked": False, "mutedIds": [], "removeIds": [ben.id]}, status=200)
    assert await ended(ben, second) == "REMOVED"
    refusal = await ben.ask("POST", f"{VOICE}/session/join", {"channelId": channel_id})
    assert (refusal.status_code, refusal.json()["meta"]["reason"]) == (403, "REMOVED")
    kinds = {action["kind"]: action for action in await one.beat()}
    assert set(kinds) == {"remove"}
    nbf = jwt.decode(second["session"]["token"], options={"verify_signature": False})["nbf"]
    assert nbf < kinds["remove"]["notBefore"]
    # Whoever leaves the party leaves its voice.
    await ann.do("POST", "/v1/social/party/leave", status=200)
    await end_doomed(minding(world))
    assert await ended(ann, first) == "REMOVED"


async def test_where_all_nodes_are_full_that_is_what_is_said(world: World):
    """And not that there is none: a client would ask again at once, and an operator look for a node that is down."""
    server = await node_server(world)
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    party, pair = f"{VOICE}/channels/party", f"{VOICE}/channels/private"
    await gather(cid, dan)
    for path, body in ((pair, {"targetId": dan.id}), (party, {})):
        assert await cid.refused("POST", path, body) == (503, "UPSTREAM_UNAVAILABLE")
    one = await node(world, server, capacity=1)
    there = await private(ann, ben)
    await join(ann, there)
    for path, body in ((pair, {"targetId": dan.id}), (party, {})):
        refusal = await cid.ask("POST", path, body)
        assert (refusal.status_code, refusal.json()["code"]) == (422, "QUOTA_EXCEEDED")
        assert refusal.json()["meta"]["max"] == 1
    assert await private(ben, ann) == there, "the one that is there can be found all the same"
    await one.do("DELETE", one.path, status=204)
    await node(world, server, capacity=1)
    body = {"channelId": there}
    assert await ben.refused("POST", f"{VOICE}/session/join", body) == (422, "QUOTA_EXCEEDED"), (
        "no room for two"
    )


async def test_who_is_unmuted_while_away_is_heard_when_they_are_back(world: World):
    ann, ben, moderator = await world.players("Ann", "Ben", "Mod")
    await world.grant(moderator, "social:voice.manage")
    media = await node(world, await node_server(world))
    channel_id = await private(ann, ben)
    control = f"{VOICE}/channels/{channel_id}/control"
    first = await join(ann, channel_id)
    await moderator.do("PUT", control, {"mutedIds": [ann.id]}, status=200)
    await ann.do("POST", f"{VOICE}/session/leave", {"sessionId": first["session"]["id"]}, status=204)
    await moderator.do("PUT", control, {"mutedIds": []}, status=200)
    again = await join(ann, channel_id)
    assert video_of(again)["canPublish"] is True
    # All of that between two heartbeats: the mute, which is still to be told, is not of the session that there is now.
    assert [(told["kind"], told["userId"]) for told in await media.beat()] == [("remove", ann.id)]


async def test_a_block_ends_voice_and_one_session_ends_another(world: World):
    await node(world, await node_server(world))
    ann, ben, eve = await world.players("Ann", "Ben", "Eve")
    with_ben, with_eve = await private(ann, ben), await private(ann, eve)
    first = await join(ann, with_ben)
    second = await join(ben, with_ben)
    third = await join(ann, with_eve)
    await end_doomed(minding(world))
    assert await ended(ann, first) == "REPLACED"
    assert [one["name"] for one in (await sync(ben, second))["channel"]["participants"]] == ["Ben"]
    await world.block(eve, ann)
    await end_doomed(minding(world))
    assert await ended(ann, third) == "REMOVED"
    assert await ann.refused("POST", f"{VOICE}/session/join", {"channelId": with_eve}) == (403, "BLOCKED")
    assert await eve.refused("POST", f"{VOICE}/channels/private", {"targetId": ann.id}) == (403, "BLOCKED")
    assert await ann.refused("POST", f"{VOICE}/channels/private", {"targetId": ann.id}) == (
        422,
        "VALIDATION_FAILED",
    )


async def test_a_channel_that_cannot_end_a_session_hinders_no_other(world: World):
    await node(world, await node_server(world))
    ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
    first = await join(ann, await private(ann, ben))
    second = await join(cid, await private(cid, dan))

    await refuse(world, "DELETE ON voice_sessions", f"OLD.user_id = '{ann.id}'")
    service = minding(world)
    for player in (ann, cid):
        service.of(ATTENDANCE).doom(player.id, "REMOVED")
    with capture_logs() as lines:
        for _ in range(64):
            await end_doomed(service)
    assert await ended(cid, second) == "REMOVED"
    await sync(ann, first)  # there still
    put_off = [line["times"] for line in lines if line["event"] == "a step of a job is put off"]
    assert put_off == [1, 2, 4, 8, 16, 32, 64], "it is at fault each second, which is no news"
    await allow(world)
    await end_doomed(service)
    assert await ended(ann, first) == "REMOVED"


async def test_channels_move_from_a_node_that_goes(world: World):
    server = await node_server(world)
    one = await node(world, server)
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben)
    async with ben.live(f"{VOICE}/live") as shown:
        assert await shown.receive_json() == {"type": "voice_snapshot", "channel": None, "session": None}
        joined = await join(ann, channel_id)
        seen = await shown.receive_json()
        assert (seen["channel"]["id"], seen["session"]) == (channel_id, None)
        second = await join(ben, channel_id)
        assert (await shown.receive_json())["session"] == second["session"]
        two = await node(world, server, publicUrl="ws://voice2.example.net:7880")
        await one.beat(draining=True)
        world.advance(JITTER_MS)
        await look(minding(world))
        told = await shown.receive_json()
        assert (told["type"], told["session"]["url"]) == ("migrate", "ws://voice2.example.net:7880")
        assert (await shown.receive_json())["channel"]["nodeId"] == two.id
    moved = await sync(ann, joined)
    assert (moved["migrate"], moved["session"]["url"]) == (True, "ws://voice2.example.net:7880")
    jwt.decode(moved["session"]["token"], two.secret, algorithms=["HS256"], options={"verify_nbf": False})
    # The node that comes back keeps nothing, and only removes: what it claims is no session.
    world.advance(JITTER_MS * 2)
    rooms = [{"channelId": channel_id, "participants": [ann.id]}]
    assert [told["kind"] for told in await one.beat(rooms=rooms)] == ["close"]
    eve = await world.player("Eve")
    told_two = await two.beat(rooms=[{"channelId": channel_id, "participants": [ann.id, eve.id]}])
    assert [(told["kind"], told["userId"]) for told in told_two] == [("remove", eve.id)]
    # Whom their node has no longer, is gone after a while.
    await two.beat(rooms=[])
    await sync(ben, second)
    await sync(ann, joined)
    world.advance(NODE_SILENCE_MS)
    await sync(ben, second)
    await two.beat(rooms=[])
    await end_doomed(minding(world))
    assert await ended(ann, joined) == "EXPIRED"
    assert minding(world).of(ATTENDANCE).seats.taken(two.id) == 1
