"""Random histories with failures: what must hold in each is checked in `history.py`."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kernel.history import run_history


@pytest.mark.parametrize("seed", range(6))
def test_histories(seed: int) -> None:
    assert len(run_history(seed)) > 150


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_any_history(seed: int) -> None:
    run_history(seed)


def test_the_same_seed_is_the_same_history() -> None:
    assert run_history(4711) == run_history(4711)
