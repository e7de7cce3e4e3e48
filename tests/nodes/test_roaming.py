"""Who is online because of sockets on other nodes: each node writes of its own users alone."""

import msgspec
import pytest

from actors.kernel.nodes.link import ENTRY_BYTES
from actors.kernel.nodes.peers import SHOWN_BYTES
from actors.kernel.nodes.roaming import Roaming
from actors.users.presence import GONE_KEPT, GRACE_MS, Presence
from routes.users.online import GONE_TOLD, told_gone


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
        self.roaming = Roaming(self.presence, self.said.append, times=self)

    def since_ms(self, id: str) -> int:
        return self.presence.told_since_ms(id) or 0

    def now_ms(self) -> int:
        return self.clock.now_ms()

    def opens(self, id: str) -> None:
        self.presence.opened(id)
        self.roaming.opened(id)

    def closes(self, id: str) -> None:
        self.presence.closed(id)
        self.roaming.closed(id)

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


def test_all_nodes_say_the_same_of_since_when_somebody_is_there_or_gone(
    nodes: tuple[_Node, _Node],
) -> None:
    """However late each hears of it; also one that has come since."""
    a, b = nodes
    begun_at_ms = a.clock.at_ms
    a.opens("ann")
    a.clock.at_ms += 30  # on its way
    a.tell("a", b)
    a.clock.at_ms += 1_000
    b.opens("ann")
    b.tell("b", a)
    a.closes("ann")
    a.clock.at_ms += 30
    a.tell("a", b)
    c = _Node(a.clock)
    for body in b.roaming.everybody():
        c.roaming.heard("b", body)
    assert {node.presence.online_since_ms("ann") for node in (a, b, c)} == {begun_at_ms}
    b.closes("ann")
    gone_at_ms = b.clock.at_ms + GRACE_MS
    b.clock.at_ms += 30
    said = list(b.said)
    b.tell("b", a)
    for body in said:
        c.roaming.heard("b", body)
    b.clock.at_ms += GRACE_MS
    for node in (a, b, c):
        node.presence.tick()
    d = _Node(a.clock)
    for body in told_gone(a.presence):
        d.presence.learn_gone(msgspec.msgpack.decode(body))
    assert {node.presence.offline_since_ms("ann") for node in (a, b, c, d)} == {gone_at_ms}


def test_two_who_see_somebody_come_at_once_agree(nodes: tuple[_Node, _Node]) -> None:
    a, b = nodes
    a.opens("ann")
    first_ms = a.clock.at_ms
    b.clock.at_ms += 5
    b.opens("ann")
    a.tell("a", b)
    b.tell("b", a)
    assert a.presence.online_since_ms("ann") == b.presence.online_since_ms("ann") == first_ms


def test_who_is_online_or_has_gone_later_is_not_gone_as_another_remembers() -> None:
    clock = _Clock()
    presence = Presence(clock)
    presence.opened("ann")
    presence.learn_gone({"bob": 500})
    presence.learn_gone({"ann": 400, "bob": 300, "eve": 200})
    assert dict(presence.gone()) == {"bob": 500, "eve": 200}


def test_what_a_node_is_told_of_who_has_gone_fits_into_a_link() -> None:
    presence = Presence(_Clock())
    presence.learn_gone({f"{number:036}": number + 1 for number in range(GONE_KEPT + 10)})
    assert len(presence.gone()) == GONE_KEPT
    bodies = list(told_gone(presence))
    assert sum(map(len, bodies)) < SHOWN_BYTES
    told: dict[str, int] = {}
    for body in bodies:
        told |= msgspec.msgpack.decode(body)
    assert list(told.values()) == list(range(GONE_KEPT + 11 - GONE_TOLD, GONE_KEPT + 11))


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
