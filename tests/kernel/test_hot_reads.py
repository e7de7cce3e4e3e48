"""When reading wakes a sleeping owner."""

from actors.kernel.hot_reads import MAX_KNOWN, WAKING_MS, WAKING_READS, HotReads

OWNER = ("room", "1")


def test_reads_in_a_row_wake() -> None:
    reads = HotReads()
    heard = [reads.wake(OWNER, n) for n in range(2 * WAKING_READS)]
    once = [False] * (WAKING_READS - 1) + [True]
    assert heard == once * 2


def test_reads_far_apart_do_not() -> None:
    reads = HotReads()
    assert not any(reads.wake(OWNER, n * WAKING_MS) for n in range(20))


def test_walking_through_many_wakes_nobody_and_keeps_little() -> None:
    reads = HotReads()
    for n in range(3 * MAX_KNOWN):
        assert not reads.wake(("room", str(n)), n)
    assert len(reads._known) <= MAX_KNOWN
