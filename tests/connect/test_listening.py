"""Which servers listen for commands, here and on other nodes."""

from actors.connect.listening import ASKED_MS, Listening
from actors.kernel.nodes.roaming import Roaming


class _Node:
    def __init__(self) -> None:
        self.listening = Listening()
        self.changes: list[str] = []
        self.own: list[str] = []
        self.said: list[bytes] = []
        self.listening.follow(self.changes.append)
        self.listening.follow_own(self.own.append)
        self.roaming = Roaming(self.listening.elsewhere, self.said.append)


def test_a_change_is_heard_once() -> None:
    node = _Node()
    listening = node.listening
    listening.asked("s", 0)
    listening.asked("s", 10)
    listening.streams.opened("s")
    listening.streams.opened("s")
    assert (node.changes, node.own) == (["s"], ["s"])
    listening.streams.closed("s")
    listening.sweep(10 + ASKED_MS - 1)
    listening.streams.closed("s")
    assert listening.listens("s")
    listening.sweep(10 + ASKED_MS)
    assert not listening.listens("s")
    assert (node.changes, node.own) == (["s", "s"], ["s", "s"])


def test_whoever_listens_on_another_node_listens() -> None:
    a, b = _Node(), _Node()
    a.roaming.opened("s")
    for body in a.said:
        b.roaming.heard("a", body)
    assert b.listening.listens("s")
    assert not b.listening.listens_here("s")
    assert (b.changes, b.own) == (["s"], [])
    b.listening.streams.opened("s")
    b.roaming.parted("a")
    assert (b.changes, b.own) == (["s"], ["s"])
    b.listening.streams.closed("s")
    assert not b.listening.listens("s")
