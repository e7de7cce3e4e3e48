"""What is kept: how long it holds, what is remembered of failures, and how many bytes it takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.mods.kept import ENTRY_BYTES, STALE_MS, Body, Entry, Failure, Kept, Reason, Said

NOW_MS = 1_000_000_000
FRESH_MS = 60_000
OLD = Body(b"{}", b'"a"', NOW_MS, FRESH_MS)
NEW = Body(b"[]", b'"b"', NOW_MS + 100_000, FRESH_MS)


def failure(reason: Reason, until_ms: int = NOW_MS + 200_000) -> Failure:
    return Failure(reason, 503, until_ms)


AWAY, GONE, REFUSED = map(failure, Reason)


@pytest.mark.parametrize(
    ("entry", "after_ms", "said"),
    [
        (Entry(None), 0, None),
        (Entry(OLD), 0, OLD),
        (Entry(OLD), FRESH_MS - 1, OLD),
        (Entry(OLD), FRESH_MS, None),
        (Entry(OLD, AWAY), 100_000, OLD),
        (Entry(OLD, AWAY), 199_999, OLD),
        (Entry(OLD, AWAY), 200_000, None),
        (Entry(None, AWAY), 199_999, AWAY),
        (Entry(None, AWAY), 200_000, None),
        (Entry(None, GONE), 199_999, GONE),
        (Entry(None, REFUSED), 200_000, None),
        (Entry(OLD, failure(Reason.AWAY, NOW_MS + 2 * STALE_MS)), FRESH_MS + STALE_MS - 1, OLD),
    ],
)
def test_what_is_said_without_asking(entry: Entry, after_ms: int, said: Said | None) -> None:
    assert entry.said(NOW_MS + after_ms) == said


def test_an_answer_that_is_too_old_is_not_shown_for_a_failure() -> None:
    late = failure(Reason.AWAY, NOW_MS + 2 * STALE_MS)
    assert Entry(OLD, late).said(NOW_MS + FRESH_MS + STALE_MS) == late


@pytest.mark.parametrize(
    ("said", "known"),
    [
        (NEW, Entry(NEW)),
        (AWAY, Entry(OLD, AWAY)),
        (GONE, Entry(None, GONE)),
        (REFUSED, Entry(None, REFUSED)),
    ],
)
def test_what_is_known_afterwards(said: Said, known: Entry) -> None:
    """An old answer outlives that its source is away, and not that there is no such thing any more."""
    assert Entry(OLD).after(said, NOW_MS + FRESH_MS) == known
    assert Entry(OLD, AWAY).after(said, NOW_MS + FRESH_MS) == known


def entry_of(content_bytes: int) -> Entry:
    return Entry(Body(b"x" * content_bytes, b'""', 0, 1))


def test_the_least_recently_used_make_room() -> None:
    kept = Kept(3 * (ENTRY_BYTES + 110))
    for name in "abc":
        kept.put(name, entry_of(100), request_bytes=10)
    assert kept.held_bytes == 3 * (ENTRY_BYTES + 110)
    kept.get("a")
    kept.put("d", entry_of(100), request_bytes=10)
    assert [kept.get(name).body is not None for name in "abcd"] == [True, False, True, True]
    kept.put("e", entry_of(4 * ENTRY_BYTES), request_bytes=0)
    assert (len(kept), kept.held_bytes) == (0, 0)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5_000), st.integers(0, 500), st.booleans())),
    st.integers(2_000, 20_000),
)
def test_whatever_is_put_the_bytes_are_counted_and_bounded(
    steps: list[tuple[int, int, int, bool]], max_bytes: int
) -> None:
    kept = Kept(max_bytes)
    newest: dict[int, tuple[Entry, int]] = {}
    for name, content_bytes, request_bytes, failed in steps:
        entry = Entry(None, AWAY) if failed else entry_of(content_bytes)
        kept.put(name, entry, request_bytes=request_bytes)
        newest[name] = entry, ENTRY_BYTES + request_bytes + (0 if failed else content_bytes)
        held = {known: size for known, (entry, size) in newest.items() if kept.get(known) == entry}
        assert kept.held_bytes == sum(held.values()) <= max_bytes
        assert len(kept) == len(held)
