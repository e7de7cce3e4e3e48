"""What must hold when a run has come to rest, whatever was done to its nodes."""

from collections import Counter
from math import inf
from typing import Any

from actors.kernel.recovery import recover
from persistence.nodes.shards import ALL_SHARDS, shard_of
from tests.kernel.ledger import KIND, ROWS, frame
from tests.simulation.cluster.clients import Deposit, Watcher
from tests.simulation.cluster.world import LEDGERS, World

HEAL_SECONDS = 10.0
"""From what is done to one node until every ledger takes something again, where nothing else is done meanwhile."""

CALM_SECONDS = 1.0
"""The same once all is calm."""

ALL = ("no bus", "no database")
"""Done to all nodes: nothing heals before it is over."""


async def check(world: World) -> list[str]:
    """What is wrong; nothing, if all is well."""
    wrong = [*world.wrong, *_healing(world), *_shares(world)]
    for id in LEDGERS:
        wrong += _deposits(world, id) + _journal(world, id) + await _states(world, id)
    for watcher in world.watchers:
        wrong += _watcher(world, watcher)
    return wrong


def _healing(world: World) -> list[str]:
    done = [what for what, _ in world.healed if what != "calm"]
    alone = len(done) == 1 and not done[0].startswith(ALL)
    wrong = []
    for what, seconds in world.healed:
        most = CALM_SECONDS if what == "calm" else HEAL_SECONDS if alone else inf
        if seconds > most:
            wrong.append(f"after {what!r}, {seconds:.1f} s pass until all ledgers take something")
    return wrong


def _shares(world: World) -> list[str]:
    """Every shard has one owner, who knows it, and nobody has many more than others."""
    wrong = []
    held = {node.name: set(node.membership.where.fences) for node in world.serving}
    for name, shards in held.items():
        leased = {shard for shard, (owner, _) in world.tables.leases.items() if owner == name}
        if leased != shards:
            wrong.append(f"{name} thinks to own {len(shards)} shards, and owns {len(leased)}")
    if sum(map(len, held.values())) != len(ALL_SHARDS):
        wrong.append("shards without an owner")
    sizes = [len(shards) for shards in held.values()]
    if sizes and max(sizes) - min(sizes) > len(sizes) * 2:
        wrong.append(f"shares of {sizes}")
    return wrong


def _deposits(world: World, id: str) -> list[str]:
    """Durable, once, and in order: as if one node had taken one after the other (linearizable)."""
    wrong = []
    entries = [entry.by for entry in world.tables.rows["entries", id]]
    place = {by: number for number, by in enumerate(entries, 1)}
    for by, times in Counter(entries).items():
        if times > 1:
            wrong.append(f"{id}: {by} was entered {times} times")
    for deposit in world.deposits:
        if deposit.id == id:
            wrong += _deposit(deposit, [place[by] for by in deposit.attempts if by in place])
    return wrong


def _deposit(deposit: Deposit, places: list[int]) -> list[str]:
    allowed = {"done": (1,), "unknown": (0, 1), "not": (0,), "refused": (0,)}.get(deposit.fate, ())
    name = f"deposit {deposit.number} into {deposit.id}"
    if len(places) not in allowed:
        return [f"{name} ends as {deposit.fate}, with {len(places)} effects"]
    if deposit.fate == "done" and places != [deposit.reply]:
        return [f"{name} was told {deposit.reply}, and is {places}"]
    if places and places[0] <= deposit.after:
        return [f"{name} is {places[0]}, though {deposit.after} was told before it was sent"]
    return []


def _journal(world: World, id: str) -> list[str]:
    """Every turn stands on the one before it, under the fence of its owner."""
    wrong, seq, version = [], 0, 0
    for one in world.tables.landed:
        turn = one.turn
        if turn.id == id:
            if turn.seq != seq or turn.version < version:
                wrong.append(f"{id}: a turn decided at {turn.seq} was committed at {seq}")
            if turn.fence != one.fence:
                wrong.append(f"{id}: a turn under fence {turn.fence} was committed under {one.fence}")
            seq, version = turn.seq + len(turn.journal), turn.version + 1
    head = world.tables.heads[KIND.name, id]
    if [row.seq for row in world.tables.events.get((KIND.name, id), ())] != list(range(1, head.seq + 1)):
        wrong.append(f"{id}: the journal has gaps")
    return wrong


async def _states(world: World, id: str) -> list[str]:
    """What is in memory, and what comes of snapshot and journal, is what the rows say."""
    tables: Any = world.tables
    rows = await ROWS.load(tables, id)
    kept = await recover(tables, tables, KIND, id)
    assert kept is not None
    wrong = [] if kept.state == rows else [f"{id}: snapshot and journal lead elsewhere than the rows"]
    owner, _ = world.tables.leases[shard_of(KIND.name, id)]
    for node in world.serving:
        live = {(actor.kind, actor.id) for actor in node.system.statistics()}
        if (KIND.name, id) in live and node.name != owner:
            wrong.append(f"{id} lives on {node.name}, and is owned by {owner}")
        state = node.system.peek(KIND, id)
        if state is not None and state != rows:
            wrong.append(f"{id}: the state on {node.name} is not that of the rows")
    return wrong


def _watcher(world: World, watcher: Watcher) -> list[str]:
    """Who has read everything sees what the rows show."""
    watcher.catch_up()
    if not watcher.is_watching:
        return [f"{watcher.name} does not watch any more"]
    shown = frame(world.tables.rows[KIND.name, watcher.id], "member")
    assert isinstance(shown, dict)
    wanted = {name: list(value) if isinstance(value, tuple) else value for name, value in shown.items()}
    if watcher.seen == wanted:
        return []
    assert watcher.node is not None
    return [f"{watcher.name} on {watcher.node.name} sees {watcher.seen}, in place of {wanted}"]
