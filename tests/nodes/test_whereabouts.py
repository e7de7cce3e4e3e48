"""Where letters go while shards are here, elsewhere, nowhere, or on their way."""

import pytest
import trio

from actors.errors import Overloaded
from actors.kernel.nodes.whereabouts import Place, Whereabouts
from persistence.errors import Fenced
from persistence.nodes.members import NOBODY, Lease
from persistence.nodes.shards import shard_of

SHARD = shard_of("thing", "x")


class _Node:
    """Whereabouts of a node `a`, and who lives and is heard."""

    def __init__(self) -> None:
        self.living, self.heard = {"a", "b"}, {"b"}
        self.where = Whereabouts("a", lives=self.living.__contains__, hears=self.heard.__contains__)

    def learn(self, node: str, fence: int) -> None:
        self.where.learn({SHARD: Lease(node, fence)})

    async def place(self, seconds: float = 1.0) -> Place | None:
        return await self.where.place("thing", "x", seconds)


@pytest.fixture
def node(autojump_clock: object) -> _Node:
    return _Node()


async def test_what_is_here_waits_for_nothing(node: _Node) -> None:
    node.learn("a", 1)
    assert await node.place() is None
    assert node.where.fence(SHARD) == 1


async def test_what_is_elsewhere_goes_there(node: _Node) -> None:
    node.learn("b", 7)
    assert await node.place() == Place("b", SHARD, 7)
    with pytest.raises(Fenced):
        node.where.fence(SHARD)


async def test_a_node_that_is_not_heard_is_not_asked(node: _Node) -> None:
    node.learn("b", 7)
    node.heard.clear()
    with pytest.raises(Overloaded):
        await node.place()


@pytest.mark.parametrize("owner", [NOBODY, "dead", None])
async def test_what_is_nowhere_is_waited_for(node: _Node, owner: str | None) -> None:
    if owner is not None:
        node.learn(owner, 1)
    with pytest.raises(Overloaded):
        await node.place()
    found: list[Place | None] = []

    async def wait() -> None:
        found.append(await node.place(10.0))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.sleep(5.0)
        assert not found
        node.learn("a", 2)
    assert found == [None]


async def test_letters_wait_while_a_shard_moves_and_go_where_it_is_then(node: _Node) -> None:
    node.learn("a", 1)
    for outcome in (None, Place("b", SHARD, 2)):
        found: list[Place | None] = []

        async def wait(found: list[Place | None] = found) -> None:
            found.append(await node.place(10.0))

        node.where.moving.add(SHARD)
        assert SHARD not in node.where.held()
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(wait)
            await trio.sleep(1.0)
            assert not found
            if outcome is not None:
                node.learn("b", 2)
            node.where.moving.clear()
            node.where.changed()
        assert found == [outcome] * 3


def test_the_higher_fence_is_the_newer(node: _Node) -> None:
    lost: list[int] = []
    node.where.on_lost(lost.extend)
    node.learn("a", 5)
    node.learn("b", 4)
    node.learn("b", 5)
    assert node.where.owner(SHARD) == "a"
    assert not lost
    node.learn("b", 6)
    assert node.where.owner(SHARD) == "b"
    assert lost == [SHARD]
    node.learn("a", 5)
    assert not node.where.fences
