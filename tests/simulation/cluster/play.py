"""What happens in a run: deposits, and one or two things that are done to nodes; then a calm, and all must rest."""

from collections.abc import Awaitable, Callable
from itertools import cycle

import trio

from tests.simulation.cluster.clients import Watcher
from tests.simulation.cluster.node import ClusterNode
from tests.simulation.cluster.world import LEDGERS, World
from tests.simulation.store import CALM, Weather
from tests.support.bus import FAIR, FOUL

NAMES = ("a", "b", "c")

SPARE = "d"
"""A node that is not there from the beginning."""

WEATHERS = (
    CALM,
    CALM,
    Weather(lost_before=0.02, lost_during=0.02, lost_commit=0.02, busy=0.01, read_fails=0.01, slow=0.01),
)

STEPS = 24

STEP_MS = (0, 20, 100, 300, 800)

UP_SECONDS = 60.0
"""Within which all nodes serve after whatever has happened."""

CALM_SECONDS = 12.0
"""After which everybody owns their share, and everything that was under way is done."""

QUIET_SECONDS = 3.0
"""After the last deposit, until all has been shown."""


async def play(world: World) -> None:
    """Play one run to its calm; `checks.check` says whether it went well."""
    rng = world.rng
    world.nursery.start_soon(world.bus.carry)
    await world.found()
    for name in NAMES:
        world.want(name)
    await _all_serve(world)
    world.weather = rng.choice(WEATHERS)
    for node in world.nodes.values():
        node.store.weather = world.weather
    world.bus.weather = rng.choice((FAIR, FOUL))
    _gather(world)
    async with trio.open_nursery() as disasters:
        at = sorted(rng.randrange(STEPS) for _ in range(rng.choice((1, 1, 2))))
        for step in range(STEPS):
            for _ in range(rng.choice((0, 1, 2, 3))):
                world.deposit(rng.choice(LEDGERS), keyed=rng.random() < 0.4)
            _watching(world)
            while at and at[0] == step:
                at.pop(0)
                disasters.start_soon(_disaster, world)
            await trio.sleep(rng.choice(STEP_MS) / 1000)
    await _calm(world)


def _gather(world: World) -> None:
    modes = cycle(("delta", "delta", "snapshot"))
    for number in range(world.rng.choice((2, 6, 9))):
        user_id = ("ann", "bob")[number % 2]
        world.watch(Watcher(user_id, world.rng.choice(LEDGERS), next(modes), world.wrong))  # type: ignore[arg-type]


def _watching(world: World) -> None:
    """A client is cut off, or stops reading, or reads on."""
    if not world.watchers or world.rng.random() > 0.25:
        return
    watcher = world.rng.choice(world.watchers)
    watcher.catch_up()
    drawn = world.rng.random()
    if drawn < 0.4:
        watcher.cut()
    else:
        watcher.stall(world.rng.choice((0, 1)) if drawn < 0.7 else None)


# -- what is done to nodes


async def _disaster(world: World) -> None:
    names = [node.name for node in world.serving]
    if not names:
        return
    what, act = world.rng.choice(DISASTERS)
    name = world.rng.choice(names)
    about = f"{what} {name}"
    world.note(about)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(act, world, world.nodes[name])
        nursery.start_soon(world.heal, about, name if act in SILENCING else "")


async def _kill(world: World, node: ClusterNode) -> None:
    node.kill()


async def _freeze(world: World, node: ClusterNode) -> None:
    node.freeze()
    await trio.sleep(_seconds(world))
    node.thaw()


async def _cut_bus(world: World, node: ClusterNode) -> None:
    parted = {frozenset((node.name, other)) for other in (*NAMES, SPARE) if other != node.name}
    world.bus.parted |= parted
    await trio.sleep(_seconds(world))
    world.bus.parted -= parted


async def _cut_database(world: World, node: ClusterNode) -> None:
    until = trio.current_time() + _seconds(world)
    world.away_until[node.name] = node.store.away_until = until
    await trio.sleep_until(until)


async def _cut_both(world: World, node: ClusterNode) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cut_bus, world, node)
        nursery.start_soon(_cut_database, world, node)


async def _no_bus(world: World, _node: ClusterNode) -> None:
    names = (*NAMES, SPARE)
    parted = {frozenset((one, other)) for one in names for other in names if one < other}
    world.bus.parted |= parted
    await trio.sleep(_seconds(world))
    world.bus.parted -= parted


async def _no_database(world: World, _node: ClusterNode) -> None:
    async with trio.open_nursery() as nursery:
        for node in list(world.nodes.values()):
            nursery.start_soon(_cut_database, world, node)


async def _leave(world: World, node: ClusterNode) -> None:
    node.leaving.set()


async def _come(world: World, _node: ClusterNode) -> None:
    world.want(SPARE)


def _seconds(world: World) -> float:
    return world.rng.choice((0.5, 2.0, 4.5, 6.0, 12.0, 30.0))


Act = Callable[[World, ClusterNode], Awaitable[None]]

DISASTERS: tuple[tuple[str, Act], ...] = (
    ("kill", _kill),
    ("kill", _kill),
    ("freeze", _freeze),
    ("freeze", _freeze),
    ("cut off the bus", _cut_bus),
    ("cut off the database", _cut_database),
    ("cut off both", _cut_both),
    ("no bus", _no_bus),
    ("no database", _no_database),
    ("leave", _leave),
    ("come", _come),
)

SILENCING = (_freeze, _cut_bus, _cut_database, _cut_both)
"""After these a node is there and does not answer; a balancer asks the others."""


# -- the end


async def _calm(world: World) -> None:
    world.note("calm")
    world.weather = CALM
    for node in world.nodes.values():
        node.store.weather = CALM
    world.bus.weather = FAIR
    await _all_serve(world)
    await trio.sleep(CALM_SECONDS)
    for watcher in world.watchers:
        watcher.stall(None)
    await world.heal("calm")
    await trio.sleep(QUIET_SECONDS)


async def _all_serve(world: World) -> None:
    with trio.move_on_after(UP_SECONDS) as waiting:
        while len(world.serving) < len(world.wanted):  # noqa: ASYNC110 - nodes tell nobody
            await trio.sleep(0.25)
    if waiting.cancelled_caught:
        missing = sorted(world.wanted - {node.name for node in world.serving})
        world.wrong.append(f"{missing} do not serve")
