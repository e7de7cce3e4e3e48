"""What a start loads, and what it does with that."""

import subprocess
import sys

import pytest

from tests.support.waiting import PATIENCE_SECONDS

_COLLECTING = """
import gc
gc.disable()
from routes.process import COLLECTOR_THRESHOLDS, begin_collecting
before = gc.get_stats()
begin_collecting()
print(gc.isenabled(), gc.get_threshold() == COLLECTOR_THRESHOLDS, gc.get_freeze_count() > 100_000)
print(gc.get_stats() == before)
"""


@pytest.mark.slow
def test_the_collector_passes_over_what_is_loaded() -> None:
    assert _said_by(_COLLECTING) == "True True True\nTrue"


@pytest.mark.slow
def test_what_a_node_alone_does_not_need_is_not_loaded() -> None:
    unwanted = {"aiohttp", "nats", "opentelemetry"}
    assert _said_by(f"import routes.process, sys; print(*{unwanted} & sys.modules.keys())") == ""


def _said_by(program: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )
    return run.stdout.strip()
