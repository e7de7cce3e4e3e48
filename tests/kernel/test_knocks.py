"""When reading wakes a sleeping owner."""

from actors.kernel.knocks import MAX_KNOWN, WAKING_MS, WAKING_READS, Knocks

OWNER = ("room", "1")


def test_reads_in_a_row_wake() -> None:
    knocks = Knocks()
    heard = [knocks.wake(OWNER, n) for n in range(2 * WAKING_READS)]
    once = [False] * (WAKING_READS - 1) + [True]
    assert heard == once * 2


def test_reads_far_apart_do_not() -> None:
    knocks = Knocks()
    assert not any(knocks.wake(OWNER, n * WAKING_MS) for n in range(20))


def test_walking_through_many_wakes_nobody_and_keeps_little() -> None:
    knocks = Knocks()
    for n in range(3 * MAX_KNOWN):
        assert not knocks.wake(("room", str(n)), n)
    assert len(knocks._known) <= MAX_KNOWN
