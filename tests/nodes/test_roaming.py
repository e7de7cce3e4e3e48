"""Who is online because of sockets on other nodes: each node writes of its own users alone."""

import msgspec
import pytest

from actors.kernel.nodes.link import ENTRY_BYTES
from actors.kernel.nodes.roaming import Roaming
from actors.users.presence import GRACE_MS, Presence


class _Clock:
    def __init__(self) -> None:
        self.at_ms = 1_000_000

    def now_ms(self) -> int:
        return self.at_ms


class _Node:
    """A node's memory, which hears of others what they say."""

    def __init__(self, clock: _Clock) -> None:
        self.said: list[bytes] = []
        self.clock = clock
        self.presence = Presence(clock)
        self.changes: list[tuple[str, bool]] = []
        self.presence.on_change(lambda user_id, online: self.changes.append((user_id, online)))
        self.roaming = Roaming(self.presence, self.said.append)

    def tell(self, name: str, other: "_Node") -> None:
        for body in self.said:
            other.roaming.heard(name, body)
        self.said.clear()

    def pass_grace(self) -> None:
        self.clock.at_ms += GRACE_MS + 1
        self.presence.tick()


@pytest.fixture
def nodes() -> tuple[_Node, _Node]:
    clock = _Clock()
    return _Node(clock), _Node(clock)


def test_each_socket_is_told_and_the_first_and_the_last_change_who_is_online(
    nodes: tuple[_Node, _Node],
) -> None:
    a, b = nodes
    for count in (1, 2, 3):
        a.roaming.opened("ann")
        a.tell("a", b)
        assert b.roaming.elsewhere("ann") == {"a": count}
    assert b.presence.is_online("ann")
    for count in (2, 1):
        a.roaming.closed("ann")
        a.tell("a", b)
        assert b.roaming.elsewhere("ann") == {"a": count}
    a.roaming.closed("ann")
    a.tell("a", b)
    assert b.roaming.elsewhere("ann") == {}
    assert b.presence.is_online("ann")  # for as long as the grace period
    b.pass_grace()
    assert b.changes == [("ann", True), ("ann", False)]


def test_who_goes_from_one_node_to_another_stays_online(nodes: tuple[_Node, _Node]) -> None:
    _, c = nodes
    a, b = _Node(c.clock), _Node(c.clock)
    a.roaming.opened("ann")
    a.tell("a", c)
    b.roaming.opened("ann")
    b.tell("b", c)
    a.roaming.closed("ann")
    a.tell("a", c)
    c.pass_grace()
    assert c.changes == [("ann", True)]


def test_a_node_that_is_met_tells_of_everybody_in_place_of_what_was_known(
    nodes: tuple[_Node, _Node],
) -> None:
    a, b = nodes
    for user_id in ("ann", "bob"):
        a.roaming.opened(user_id)
    for body in a.roaming.everybody():
        b.roaming.heard("a", body)
    a.roaming.closed("bob")
    a.roaming.opened("eve")
    for body in a.roaming.everybody():
        b.roaming.heard("a", body)
    a.tell("a", b)  # what was on its way says nothing new
    b.pass_grace()
    assert {id for id in ("ann", "bob", "eve") if b.presence.is_online(id)} == {"ann", "eve"}


def test_a_node_of_the_release_before_tells_no_counts(nodes: tuple[_Node, _Node]) -> None:
    _, b = nodes
    for form in (["here", ["ann", "bob"]], ["also", ["eve"]], ["came", "kim"]):
        b.roaming.heard("a", msgspec.msgpack.encode(form))
    assert [b.roaming.elsewhere(id) for id in ("ann", "bob", "eve", "kim")] == [{"a": 1}] * 4


def test_the_users_of_a_dead_node_go_with_it(nodes: tuple[_Node, _Node]) -> None:
    a, b = nodes
    a.roaming.opened("ann")
    a.tell("a", b)
    b.roaming.parted("a")
    b.roaming.parted("a")
    assert b.roaming.elsewhere("ann") == {}
    assert b.presence.is_online("ann")
    b.pass_grace()
    assert not b.presence.is_online("ann")


def test_many_are_told_in_messages_that_links_take(nodes: tuple[_Node, _Node]) -> None:
    a, b = nodes
    ids = [f"{number:036}" for number in range(25_000)]
    for id in ids:
        a.roaming.opened(id)
    b.roaming.heard("a", next(iter(_Node(a.clock).roaming.everybody())))
    bodies = list(a.roaming.everybody())
    assert max(map(len, bodies)) < ENTRY_BYTES / 4
    for body in bodies:
        b.roaming.heard("a", body)
    assert all(b.presence.is_online(id) for id in ids)
