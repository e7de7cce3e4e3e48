"""Wire: the nodes of the service, for super-admins; and the lines of `partyline nodes`."""

import pytest

from persistence.nodes.members import Lease, Member, State, View
from routes.cli.nodes import lines_of
from tests.support.world import World

NODES = "/v1/admin/nodes"

MINUTE_MS = 60_000


@pytest.mark.one_node(because="it serves alone")
async def test_a_node_that_serves_alone_is_the_only_one(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    found = await root.get(NODES)
    (node,) = found["items"]
    assert (found["self"], found["unowned"]) == (None, 0)
    assert (node["state"], node["shards"], node["hears"], node["silent"]) == ("alone", 1_040, [], False)
    assert await ann.refused("GET", NODES) == (403, "FORBIDDEN")


def test_the_lines_of_all_nodes() -> None:
    def member(node: str, state: State, *heard: str, over: bool = False) -> Member:
        return Member(node, 7, state, "1.0", 10 * MINUTE_MS, frozenset(heard), 5, 64, over, over)

    view = View(
        {
            "a": member("a", State.UP, "b", "c"),
            "b": member("b", State.LEAVING, "a", "c"),
            "c": member("c", State.UP, over=True),
            "d": member("d", State.LEAVING)._replace(is_drained=True),
        },
        {1: Lease("a", 3), 2: Lease("a", 1), 3: Lease("c", 9)},
        0.0,
    )
    assert list(lines_of(view, now_ms=25 * MINUTE_MS)) == [
        "node  life  state    release  for     shards  sockets  lag   hears",
        "a     7     up       1.0      15 min  2       5        64 B  b c",
        "b     7     leaving  1.0      15 min  0       5        64 B  a c",
        "c     7     silent   1.0      15 min  1       5        64 B",
        "d     7     drained  1.0      15 min  0       5        64 B",
    ]
