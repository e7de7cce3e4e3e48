"""What is found wrong with a conversation, and what is not."""

import pytest

from tests.nodes.faults.sequence import NEVER, Heard, Posted, Read, Stored, faults_of

# name: (sent, acknowledged); `b` and `c` were under way at the same time, `d` was never acknowledged.
SENT = {"a": (0, 10), "b": (20, 40), "c": (30, 50), "d": (60, NEVER), "e": (70, 80)}


def _faults(log: str, reads: tuple[tuple[int, int, str], ...] = (), heard: str | None = None) -> list[str]:
    posted = {name: Posted(name, sent, acked, name) for name, (sent, acked) in SENT.items()}
    subscribers = [] if heard is None else [Heard(list(heard))]
    shown = [Read(asked, answered, tuple(ids)) for asked, answered, ids in reads]
    return faults_of([Stored(name, name) for name in log], posted, shown, subscribers)


@pytest.mark.parametrize(
    ("log", "reads"),
    [
        ("abcde", ()),
        ("acbe", ()),
        ("abced", ()),
        ("abce", ((0, 5, ""), (0, 5, "a"), (35, 36, "ab"), (36, 37, "abc"), (81, 82, "ce"))),
        ("abce", ((31, 49, "abc"), (32, 33, "a"))),
    ],
)
def test_what_a_log_explains(log: str, reads: tuple[tuple[int, int, str], ...]) -> None:
    assert _faults(log, reads, heard=log) == []


@pytest.mark.parametrize(
    ("log", "reads", "found"),
    [
        ("abc", (), "e was acknowledged as e and is lost"),
        ("abbce", (), "a message is there twice"),
        ("abcex", (), "x was written by nobody"),
        ("bace", (), "b stands before what was acknowledged"),
        ("abec", (), "e stands before what was acknowledged"),
        ("abce", ((11, 12, ""),), "a read missed a"),
        ("abce", ((51, 52, "ab"),), "a read missed c"),
        ("abce", ((21, 25, "abc"),), "a read showed c, sent after it"),
        ("abce", ((31, 39, "acb"),), "a read showed another order"),
        ("abce", ((81, 82, "abe"),), "a read showed another order"),
        ("abce", ((61, 62, "abcd"),), "a read showed what is not there"),
        ("abce", ((31, 32, "abc"), (33, 34, "ab")), "a read showed less"),
    ],
)
def test_what_it_does_not(log: str, reads: tuple[tuple[int, int, str], ...], found: str) -> None:
    faults = _faults(log, reads)
    assert any(fault.startswith(found) for fault in faults), faults


@pytest.mark.parametrize("heard", ["abc", "abbce", "acbe", ""])
def test_a_subscriber_hears_all_of_it_in_order(heard: str) -> None:
    assert _faults("abce", heard=heard) == ["a subscriber heard something else than is there"]
