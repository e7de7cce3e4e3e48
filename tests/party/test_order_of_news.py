"""Who is in which party, as memory has it that hears of it from several nodes: each tells in order, and they overtake
each other."""

from collections import deque
from random import Random

import pytest

from actors.party import memberships as module
from actors.party.memberships import Memberships
from routes.changes import reconcile
from routes.party.memberships import MEMBERSHIPS
from tests.support.world import World

NODES = ("a", "b", "c")
USERS = ("ann", "bob")
PARTIES = ("p", "q")


class Rows:
    """Where everybody is, and what each node has told of that and is yet to be heard: (user, party, whether joined)."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.party_of: dict[str, str] = {}
        self.told: dict[str, deque[tuple[str, str, bool]]] = {node: deque() for node in NODES}
        self.owners = dict.fromkeys(PARTIES, "a")

    def change(self) -> None:
        """A party goes to another node, or somebody joins or leaves one; a node that made it tells of the founder."""
        rng = self.rng
        if rng.random() < 0.3:
            self.owners[rng.choice(PARTIES)] = rng.choice(NODES)
            return
        user = rng.choice(USERS)
        party = self.party_of.pop(user, None)
        if party is not None:
            self.told[self.owners[party]].append((user, party, False))
        else:
            party = self.party_of[user] = rng.choice(PARTIES)
            is_founder = party not in [of for who, of in self.party_of.items() if who != user]
            by = rng.choice(NODES) if is_founder else self.owners[party]
            self.told[by].append((user, party, True))

    def deliver(self, memory: Memberships) -> bool:
        """Have the memory hear the next thing of one node; returns False when there is nothing more."""
        waiting = [told for told in self.told.values() if told]
        if not waiting:
            return False
        user, party, joined = self.rng.choice(waiting).popleft()
        (memory.joined if joined else memory.left)(user, party)
        return True


def settle(memory: Memberships, rows: Rows, doubts: list[str]) -> None:
    """Read where those are whom memory doubts."""
    while doubts:
        user = doubts.pop()
        memory.settle(user, rows.party_of.get(user))


@pytest.mark.parametrize("seed", range(300))
def test_memory_is_what_rows_say_when_all_was_heard(seed: int) -> None:
    rng = Random(seed)
    rows, memory, doubts = Rows(rng), Memberships(()), list[str]()
    memory.on_doubt(doubts.append)
    for _ in range(rng.choice((3, 10, 30))):
        rows.change()
        while rng.random() < 0.5 and rows.deliver(memory):
            pass
        if rng.random() < 0.3:
            settle(memory, rows, doubts)
        if rng.random() < 0.1:  # a party is read whole, after a turn of unknown outcome
            party = rng.choice(PARTIES)
            memory.reconcile(party, [user for user, of in rows.party_of.items() if of == party])
    while rows.deliver(memory):
        pass
    settle(memory, rows, doubts)
    assert dict(memory.all()) == rows.party_of
    for party in PARTIES:
        assert set(memory.members(party)) == {user for user, of in rows.party_of.items() if of == party}


def test_news_in_order_are_believed() -> None:
    memory, doubts = Memberships([("ann", "p")]), list[str]()
    memory.on_doubt(doubts.append)
    memory.left("ann", "p")
    for party in ("q", "p", "q"):
        memory.joined("ann", party)
        memory.left("ann", party)
    assert doubts == []


def test_somebody_who_has_left_before_it_was_heard_that_they_joined_is_read() -> None:
    memory, doubts = Memberships(()), list[str]()
    memory.on_doubt(doubts.append)
    memory.left("ann", "p")
    assert doubts == ["ann"]
    memory.joined("ann", "p")
    assert doubts == ["ann", "ann"]
    assert memory.settle("ann", None)
    assert not memory.settle("ann", None)
    assert memory.of("ann") is None


def test_those_in_doubt_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "UNSETTLED", 2)
    memory, doubts = Memberships(()), list[str]()
    memory.on_doubt(doubts.append)
    for user in ("ann", "bob", "cid", "bob", "dan"):
        memory.left(user, "p")
    doubts.clear()
    for user in ("ann", "bob", "cid", "dan"):
        memory.joined(user, "p")
    assert doubts == ["bob", "dan"]


async def test_who_is_in_doubt_is_read_from_rows(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    party_id = (await ann.do("POST", "/v1/social/party"))["party"]["id"]
    memberships = world.service.of(MEMBERSHIPS)
    memberships.joined(ann.id, "of another node")
    memberships.left(ben.id, "of another node")
    memberships.joined(ben.id, "of another node")
    await reconcile(world.service)
    await world.everywhere(lambda service: service.of(MEMBERSHIPS).of(ann.id) == party_id)
    await world.everywhere(lambda service: service.of(MEMBERSHIPS).of(ben.id) is None)
