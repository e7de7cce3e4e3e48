"""Wire: voice ends with the right to it, whatever takes that; nobody runs the jobs here, so that it is at once where
the channel is live.
"""

from functools import partial
from typing import Any

import pytest

from actors.party.memberships import Memberships
from actors.voice.apply import apply
from actors.voice.events import Joined
from actors.voice.state import Session
from persistence.connection import Connection
from routes.party.memberships import MEMBERSHIPS
from routes.voice.jobs import end_doomed, end_parted
from routes.voice.parts import ATTENDANCE
from routes.voice.rights import look_at_rights
from tests.party.play import gather
from tests.support.waiting import wait_until
from tests.support.websocket import Client
from tests.support.world import Player, World
from tests.users.play import erase
from tests.voice.play import VOICE, join, minding, node, node_server, private, sync

LIVE = f"{VOICE}/live"


async def until_alone(socket: Client, *names: str) -> Any:
    """Frames until these are in the channel that is shown, and nobody else."""
    while True:
        shown = await socket.receive_json()
        if shown["type"] != "voice_snapshot" or shown["channel"] is None:
            continue
        if [one["name"] for one in shown["channel"]["participants"]] == list(names):
            return shown


async def test_voice_ends_with_the_permission(world: World) -> None:
    one = await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben)
    joined = await join(ann, channel_id)
    await join(ben, channel_id)
    async with ben.live(LIVE) as socket:
        await until_alone(socket, "Ann", "Ben")
        await world.grant(ann, "social:voice.write", negated=True)
        await until_alone(socket, "Ben")
    assert [(told["kind"], told["userId"]) for told in await one.beat()] == [("remove", ann.id)]
    for path, body in (("join", {"channelId": channel_id}), ("sync", {"sessionId": joined["session"]["id"]})):
        assert await ann.refused("POST", f"{VOICE}/session/{path}", body) == (403, "FORBIDDEN")


async def test_other_changes_of_rights_end_nothing(world: World) -> None:
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    joined = await join(ann, await private(ann, ben))
    await world.grant(ann, "social:voice.read", negated=True)
    await world.grant(ann, "news:write")

    async def asked() -> bool:  # more than once: the database tells of each change, too
        await look_at_rights(minding(world))
        return not minding(world).of(ATTENDANCE).suspects

    await wait_until(asked)
    assert len((await sync(ann, joined))["channel"]["participants"]) == 1


async def test_voice_ends_with_the_user(world: World) -> None:
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben)
    await join(ann, channel_id)
    await join(ben, channel_id)
    async with ben.live(LIVE) as socket:
        await until_alone(socket, "Ann", "Ben")
        await erase(world, ann)
        await until_alone(socket, "Ben")


async def test_a_block_or_leaving_the_party_ends_it_at_once(world: World) -> None:
    one = await node(world, await node_server(world))
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await join(ann, await private(ann, ben))
    await gather(cid, ben)
    channel_id = (await cid.do("POST", f"{VOICE}/channels/party", {}, status=201))["id"]
    await join(cid, channel_id)
    await join(ben, channel_id)
    async with ann.live(LIVE) as anns, cid.live(LIVE) as cids:
        await until_alone(anns, "Ann")
        await until_alone(cids, "Cid", "Ben")
        await world.block(ben, ann)
        while (await anns.receive_json())["session"] is not None:
            pass
        await ben.do("POST", "/v1/social/party/leave", status=200)
        await until_alone(cids, "Cid")
    told = [(told["kind"], told["userId"]) for told in await one.beat()]
    assert told == [("remove", ann.id), ("remove", ben.id)]


async def test_what_overtakes_a_join_ends_it(world: World) -> None:
    """A block, the party's end or a right lost between the turn's look at them and its commit."""
    await node(world, await node_server(world))
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    attendance, memberships = minding(world).of(ATTENDANCE), minding(world).of(MEMBERSHIPS)
    pair = await private(ann, ben)
    await gather(cid, ben)
    party = (await cid.do("POST", f"{VOICE}/channels/party", {}, status=201))["id"]
    commit = partial(_commit, world)
    commit(ann, pair)
    assert attendance.doomed == {}
    assert attendance.suspects == {ann.id}
    await world.block(ben, ann)
    attendance.doomed.clear()
    commit(ann, pair)
    assert pair in attendance.doomed
    await ben.do("POST", "/v1/social/party/leave", status=200)
    assert memberships.of(ben.id) is None
    commit(ben, party)
    assert party in attendance.doomed


def _commit(world: World, player: Player, channel_id: str) -> None:
    """A join is committed that was decided before."""
    attendance = minding(world).of(ATTENDANCE)
    state = attendance.state(channel_id)
    assert state is not None
    now_ms = world.clock.now_ms()
    event = Joined(
        Session(f"{now_ms:024x}", player.id, False, False, now_ms, now_ms, player.name), None, now_ms
    )
    attendance.follow(apply(state, event), event)


async def test_only_those_in_voice_are_asked_about(world: World) -> None:
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    await join(ann, await private(ann, ben))
    attendance = minding(world).of(ATTENDANCE)
    attendance.suspect("")
    assert attendance.suspects == {ann.id}
    attendance.suspect(ben.id)
    assert attendance.suspects == {ann.id}, "he is in no channel"


async def test_a_rename_is_shown_and_moderators_leave_a_trail(world: World) -> None:
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    moderator, root = await world.ranked("Mod", "moderator"), await world.super_admin()
    channel_id = await private(ann, ben)
    await join(ann, channel_id)
    await join(ben, channel_id)
    async with ann.live(LIVE) as socket:
        await until_alone(socket, "Ann", "Ben")
        renamed = Player(world, ben.id, "Benno", world.token(ben.id, "Benno"))
        await renamed.get("/v1/auth/verify")
        await until_alone(socket, "Ann", "Benno")
    control = {"locked": True, "mutedIds": [ann.id], "removeIds": [ben.id]}
    await moderator.do("PUT", f"{VOICE}/channels/{channel_id}/control", control, status=200)
    entry = next(one for one in (await root.get("/v1/admin/audit"))["items"] if "voice" in one["action"])
    assert (entry["action"], entry["actorId"], entry["targetId"]) == (
        "voice.controlled", moderator.id, channel_id,
    )  # fmt: skip
    kept = {"locked": True, "mutedIds": [ann.id], "maxParticipants": 2}
    assert entry["detail"] == {"control": kept, "removedIds": [ben.id]}


async def test_who_is_not_known_yet_to_have_joined_the_party_is_heard_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory of a node that takes voice over may be behind; rows say who has left."""
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann, ben)
    channel_id = (await ann.do("POST", f"{VOICE}/channels/party", {}, status=201))["id"]
    await join(ann, channel_id)
    await join(ben, channel_id)

    async def leave(conn: Connection) -> None:
        await conn.execute("DELETE FROM party_members WHERE user_id = $1", ben.id)

    minder = minding(world)
    await minder.database.transact(leave)  # and nobody was told
    with monkeypatch.context() as behind:
        behind.setattr(Memberships, "of", lambda _self, _user_id: None)
        await end_parted(minder)

    async def is_out() -> bool:
        await end_doomed(minder)
        return minder.of(ATTENDANCE).of_user(ben.id) is None

    await wait_until(is_out)
    assert minder.of(ATTENDANCE).of_user(ann.id) is not None
