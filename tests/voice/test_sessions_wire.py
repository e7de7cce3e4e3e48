"""Wire: private channels, and sessions in them."""

import trio

from actors.voice.state import EMPTY_MS, SILENCE_MS
from routes.voice.jobs import look
from routes.voice.parts import ATTENDANCE
from tests.support.jobs import jobs_of
from tests.support.world import World
from tests.voice.play import NODE, VOICE, ended, join, minding, node, node_server, private, sync


async def test_two_talk_and_part(world: World):
    one = await node(world, await node_server(world))
    ann, ben, eve = await world.players("Ann", "Ben", "Eve")
    made = await ann.do("POST", f"{VOICE}/channels/private", {"targetId": ben.id}, status=201)
    assert made == {
        "id": made["id"], "kind": "private", "nodeId": one.id, "region": "eu-west", "participants": [],
        "control": {"locked": False, "mutedIds": [], "maxParticipants": 2}, "revision": 1,
    }  # fmt: skip
    assert await ben.do("POST", f"{VOICE}/channels/private", {"targetId": ann.id}, status=200) == made
    first = await join(ann, made["id"], selfMute=True)
    second = await join(ben, made["id"])
    assert second["session"]["url"] == NODE["publicUrl"]
    assert [(one["name"], one["selfMute"]) for one in second["channel"]["participants"]] == [
        ("Ann", True), ("Ben", False),
    ]  # fmt: skip
    assert await eve.refused("POST", f"{VOICE}/session/join", {"channelId": made["id"]}) == (404, "NOT_FOUND")
    assert await eve.refused("POST", f"{VOICE}/session/sync", {"sessionId": first["session"]["id"]}) == (
        404,
        "NOT_FOUND",
    )
    shown = await sync(ann, first, selfMute=False, speaking=True)
    (mine, _) = shown["channel"]["participants"]
    assert (mine["selfMute"], mine["speaking"]) == (False, True)
    assert "session" not in shown
    # Joining again ends the older session.
    third = await join(ann, made["id"])
    assert await ended(ann, first) == "REPLACED"
    for _ in range(2):
        await ann.do("POST", f"{VOICE}/session/leave", {"sessionId": third["session"]["id"]}, status=204)
    assert [told["kind"] for told in await one.beat()] == ["remove"]
    world.advance(SILENCE_MS)
    await look(minding(world))
    assert await ended(ben, second) == "EXPIRED"
    world.advance(EMPTY_MS)
    await look(minding(world))
    assert minding(world).of(ATTENDANCE).state(made["id"]) is None
    await one.beat()
    assert await private(ann, ben) != made["id"]


async def test_nobody_is_put_out_because_the_machine_has_slept(world: World):
    """Their clients could not be heard meanwhile; they have as long as after a sync from then on."""
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    joined = await join(ann, await private(ann, ben))
    silent = next(one for one in jobs_of(minding(world)) if one.name == "silent voice")
    world.clock.sleep(1_800_000)
    await silent.run()
    await sync(ann, joined)
    world.advance(SILENCE_MS)
    await silent.run()
    assert await ended(ann, joined) == "EXPIRED"


async def test_joins_at_once_never_exceed_a_node(world: World):
    await node(world, await node_server(world), capacity=30)
    players = await world.players(*(f"Player{number}" for number in range(100)))
    statuses: list[int] = []
    channels = [await private(one, other) for one, other in zip(players[::2], players[1::2], strict=True)]

    async def come(index: int) -> None:
        body = {"channelId": channels[index // 2]}
        statuses.append((await players[index].ask("POST", f"{VOICE}/session/join", body)).status_code)

    async with trio.open_nursery() as nursery:
        for index in range(100):
            nursery.start_soon(come, index)
    assert sorted(statuses) == [200] * 30 + [422] * 70
    assert (
        minding(world).of(ATTENDANCE).seats.used(next(iter(minding(world).of(ATTENDANCE))).node_id or "")
        == 30
    )
