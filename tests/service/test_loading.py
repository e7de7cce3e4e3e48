"""What a start loads, and the doctor with it, and what a start does with that."""

import subprocess
import sys

import pytest

from tests.support.waiting import PATIENCE_SECONDS

UNWANTED = {"aiohttp", "nats", "opentelemetry"}

_STARTING = f"""
import gc, sys
gc.disable()
import routes.cli.doctor
from routes.process import COLLECTOR_THRESHOLDS, begin_collecting
print(*{UNWANTED} & sys.modules.keys())
before = gc.get_stats()
begin_collecting()
print(gc.isenabled(), gc.get_threshold() == COLLECTOR_THRESHOLDS, gc.get_freeze_count() > 100_000)
print(gc.get_stats() == before)
"""


@pytest.fixture(scope="module")
def said() -> list[str]:
    """The lines that one process prints about its start, as importing all takes it a second."""
    run = subprocess.run(
        [sys.executable, "-c", _STARTING],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    return run.stdout.splitlines()


@pytest.mark.slow
def test_what_a_node_alone_does_not_need_is_not_loaded(said: list[str]) -> None:
    assert said[0] == ""


@pytest.mark.slow
def test_the_collector_passes_over_what_is_loaded(said: list[str]) -> None:
    assert said[1:] == ["True True True", "True"]
