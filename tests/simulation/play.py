"""Plays a run: deeds of clients and disasters, drawn one after the other, and a calm at the end, after which nothing
may be under way."""

from random import Random

import trio

from tests.chat.play import a_poll
from tests.simulation import requests
from tests.simulation.chat_rows import KIND, Rows
from tests.simulation.image import CONVERSATIONS, DIRECT, GROUP, OLD_POLL, USER_IDS
from tests.simulation.party_play import PARTY_SHARE, attend, party_deed
from tests.simulation.store import CALM, Weather, tick
from tests.simulation.viewers import Viewer
from tests.simulation.world import Node, World

STEPS = 16

CALM_SECONDS = 3.0
"""How long after the last disaster everything has to be at rest: timers, repeats, reloads and views have ended by
then."""

WEATHERS = (
    CALM,
    Weather(lost_before=0.05, lost_during=0.05, lost_commit=0.05, busy=0.02, read_fails=0.03, slow=0.02),
    Weather(lost_during=0.2, lost_commit=0.2),
    Weather(slow=0.15, read_fails=0.1),
)

DEEDS_AT_ONCE = (1, 2, 3, 5)

TICKS = (0, 0, 1, 1, 2, 6)


async def play(world: World) -> None:
    """Play one run to its calm; `checks.check` says whether it went well."""
    rng = world.rng
    world.weather = rng.choice(WEATHERS)
    disasters = rng.choice((0.0, 0.03, 0.1))
    world.start("n1")
    await world.nodes[0].ready.wait()
    _gather(world)
    attend(world)
    for _ in range(STEPS):
        for _ in range(rng.choice(DEEDS_AT_ONCE)):
            _deed(world, disasters)
        if rng.random() < PARTY_SHARE:
            party_deed(world)
        await tick(rng.choice(TICKS))
    await _calm(world)


def _gather(world: World) -> None:
    """Open the clients that watch. In some runs there are none, so that nothing keeps a conversation in memory."""
    if world.rng.random() < 0.2:
        return
    for user_id, id, mode, shows in (
        (USER_IDS[0], GROUP, "delta", "conversation"),
        (USER_IDS[1], GROUP, "delta", "conversation"),
        (USER_IDS[2], GROUP, "snapshot", "conversation"),
        (USER_IDS[1], DIRECT, "delta", "conversation"),
        (USER_IDS[0], USER_IDS[0], "delta", "inbox"),
        (USER_IDS[1], USER_IDS[1], "snapshot", "inbox"),
        (USER_IDS[1], USER_IDS[1], "delta", "party"),
        (USER_IDS[3], USER_IDS[3], "delta", "party"),
    ):
        viewer = Viewer(user_id, id, mode, shows, world.history.gone, world.wrong.append)  # type: ignore[arg-type]
        world.viewers.append(viewer)
        if world.rng.random() < 0.8:
            world.come(viewer)


def _deed(world: World, disasters: float) -> None:
    drawn = world.rng.random()
    if drawn < 0.62:
        world.send(_request(world))
    elif drawn < 0.68:
        _crowd(world)
    elif drawn < 0.86:
        _watching(world)
    elif drawn > 1 - disasters:
        _disaster(world)
    elif drawn > 0.97 - disasters:
        _outage(world)
    else:
        world.send(_request(world))


def _crowd(world: World) -> None:
    """Have all members vote in one poll at the same moment."""
    rng = world.rng
    poll = rng.choice((OLD_POLL, OLD_POLL, *_polls(world, GROUP)))
    for user_id in CONVERSATIONS[GROUP]:
        if rng.random() < 0.7:
            world.send(requests.voting(_number(world), user_id, GROUP, poll, _options(rng)))


def _request(world: World) -> requests.Request:
    rng, number = world.rng, _number(world)
    id = GROUP if rng.random() < 0.75 else DIRECT
    user_id = rng.choice(CONVERSATIONS[id])
    drawn = rng.random()
    if drawn < 0.42:
        poll = None
        if rng.random() < 0.25:
            lasts_ms = rng.choice((None, rng.randrange(5, 1500)))
            poll = a_poll(expires_at_ms=None if lasts_ms is None else world.clock.now_ms() + lasts_ms)
        how = rng.choice(("client", "client", "key", "once"))
        mention = rng.choice(CONVERSATIONS[id]) if rng.random() < 0.2 else None
        return requests.posting(number, user_id, id, how=how, poll=poll, mention=mention)
    if drawn < 0.62:
        about = _own(world, id, user_id)
        if about is not None:
            editing = rng.random() < 0.6
            return (requests.editing if editing else requests.deleting)(number, user_id, id, about)
    if drawn < 0.75:
        polls = _polls(world, id)
        if polls:
            return requests.voting(number, user_id, id, rng.choice(polls), _options(rng))
    if drawn < 0.87:
        return requests.reading(number, user_id, id, rng.choice(_newest(world, id)))
    what = rng.choice(("title", "mute", "add", "remove", "typing"))
    return requests.changing(number, what, CONVERSATIONS[GROUP][0], GROUP, USER_IDS[4])


def _number(world: World) -> int:
    world.numbered += 1
    return world.numbered


def _options(rng: Random) -> tuple[str, ...]:
    return rng.choice(((), ("1",), ("2",), ("3",)))


def _rows(world: World, id: str) -> Rows:
    rows: Rows = world.tables.rows[KIND, id]
    return rows


def _own(world: World, id: str, user_id: str) -> str | None:
    """One of a user's messages, a recent one or an old one."""
    own = [one.id for one in _rows(world, id).messages.values() if one.sender_id == user_id]
    return world.rng.choice((own[0], own[1 % len(own)], *own[-4:])) if own else None


def _polls(world: World, id: str) -> list[str]:
    return [one.id for one in _rows(world, id).messages.values() if one.has_poll]


def _newest(world: World, id: str) -> list[str]:
    return list(_rows(world, id).messages)[-8:] or [OLD_POLL]


def _watching(world: World) -> None:
    if not world.viewers:
        return
    rng = world.rng
    viewer = rng.choice(world.viewers)
    viewer.catch_up()
    if viewer.subscription is None:
        world.come(viewer)
    elif (deed := rng.random()) < 0.35:
        viewer.cut()
        if rng.random() < 0.5:
            world.come(viewer)
    elif deed < 0.7:
        viewer.socket.make_room(rng.choice((0, 1, 2)))
    else:
        viewer.socket.make_room(None)


def _outage(world: World) -> None:
    owner = world.owner
    if owner is not None and world.weather is not CALM:
        owner.store.away_until = trio.current_time() + world.rng.choice((0.003, 0.02, 0.2, 1.0))
        world.note("outage", f"{owner.store.away_until:.3f}")


def _disaster(world: World) -> None:
    """Kill the process and start it again; or have another take over, while it goes on without knowing that."""
    owner = world.owner
    if owner is None or not owner.ready.is_set() or any(node.doomed for node in world.nodes):
        return
    drawn = world.rng.random()
    if drawn < 0.5:
        world.kill(owner)
        heir = world.start(owner.name)
    elif drawn < 0.7:
        owner.doomed = True
        world.nursery.start_soon(_restart, world, owner)
        return
    else:
        owner.doomed = True
        world.note("presumed dead", owner.name)
        world.tables.nodes.clear()
        heir = world.start("n2" if owner.name == "n1" else "n1")
        world.nursery.start_soon(_linger, world, owner, heir)
    world.nursery.start_soon(_storm, world, heir)


async def _restart(world: World, owner: Node) -> None:
    """Stop the process in the middle of its work, and start it again."""
    world.send(_request(world))
    await world.stop(owner)
    await _storm(world, world.start(owner.name))


async def _storm(world: World, heir: Node) -> None:
    """Have all clients come back at once, and go on talking."""
    await heir.ready.wait()
    for viewer in world.viewers:
        world.come(viewer)
    for _ in range(world.rng.randrange(6)):
        world.send(_request(world))
        await tick(world.rng.randrange(2))


async def _linger(world: World, owner: Node, heir: Node) -> None:
    """Have the former owner take requests for a while."""
    await heir.ready.wait()
    for _ in range(3):
        if owner not in world.nodes:
            return
        world.send(_request(world), owner)
        await trio.sleep(world.rng.randrange(1, 20) / 1000)
    if owner in world.nodes:
        world.kill(owner)


async def _late_polls(world: World) -> None:
    """Have deadlines come while nobody watches, so that their owners are not in memory and only their head rows wake
    them."""
    for id, members in CONVERSATIONS.items():
        poll = a_poll(expires_at_ms=world.clock.now_ms() + world.rng.randrange(50, 350))
        world.send(requests.posting(_number(world), members[0], id, how="once", poll=poll))
    await tick(4)


async def _calm(world: World) -> None:
    if not world.viewers:
        await _late_polls(world)
    owner = world.owner
    if owner is not None and not any(node.doomed for node in world.nodes) and world.rng.random() < 0.4:
        world.kill(owner)
        world.start(owner.name)
    world.note("calm")
    world.weather = CALM
    for node in world.nodes:
        node.store.weather, node.store.away_until = CALM, 0.0
    await (await world.wait_owner()).ready.wait()
    await trio.sleep(CALM_SECONDS / 2)
    for viewer in world.viewers:
        viewer.socket.make_room(None)
        world.come(viewer)
    await trio.sleep(CALM_SECONDS / 2)
