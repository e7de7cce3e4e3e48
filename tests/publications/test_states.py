"""The two state machines of a publication, cell by cell."""

from typing import get_args

import pytest

from actors.publications.states import OWNERSHIP, STALE_MS, discovery
from persistence.publications.rows import DiscoveryState, OwnershipState

NOW_MS = 1_000 * STALE_MS


def test_every_ownership_has_both_its_moves() -> None:
    """No state is without a way, and none is left for UNCLAIMED."""
    states = get_args(OwnershipState)
    assert set(OWNERSHIP) == {(state, proven) for state in states for proven in (True, False)}
    assert "UNCLAIMED" not in OWNERSHIP.values()


@pytest.mark.parametrize("state", get_args(OwnershipState))
def test_whatever_it_was_a_proof_makes_it_owned(state: OwnershipState) -> None:
    assert OWNERSHIP[state, True] == "OWNED"


@pytest.mark.parametrize(
    ("before", "after"),
    [("UNCLAIMED", "PENDING"), ("PENDING", "PENDING"), ("OWNED", "LOST"), ("LOST", "LOST")],
)
def test_without_a_proof(before: OwnershipState, after: OwnershipState) -> None:
    """Only what was owned can be lost."""
    assert OWNERSHIP[before, False] == after


@pytest.mark.parametrize("age_ms", [0, STALE_MS, STALE_MS + 1])
@pytest.mark.parametrize("ownership", get_args(OwnershipState))
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("suppressed", [False, True])
def test_the_state_of_discovery_follows_in_the_order_of_who_decides(
    suppressed: bool, hidden: bool, ownership: OwnershipState, age_ms: int
) -> None:
    """Moderators first, then who publishes it, then whether the address was lost, then silence."""
    wanted: DiscoveryState = "CONNECT" if age_ms <= STALE_MS else "STALE"
    if hidden or ownership == "LOST":
        wanted = "UNLISTED"
    if suppressed:
        wanted = "SUPPRESSED"
    seen_at_ms = NOW_MS - age_ms
    assert (
        discovery(
            suppressed=suppressed, hidden=hidden, ownership=ownership, seen_at_ms=seen_at_ms, now_ms=NOW_MS
        )
        == wanted
    )
