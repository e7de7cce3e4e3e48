"""Ctrl-C of programs that measure for long: what was done is told, and nothing is left."""

import os
import signal
import subprocess
import sys

import pytest

from tests.contract.sources import ROOT
from tests.support.waiting import PATIENCE_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("words", ["benchmarks --quick --servers lean", "growth --quick"])
def test_an_interrupted_measurement_is_no_traceback(words: str):
    program, *options = words.split()
    with subprocess.Popen(
        [sys.executable, "-m", f"scripts.{program}", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        title = process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 128 + signal.SIGINT, said
    assert title.strip()
    assert "Traceback" not in said
    assert "interrupted; what was not finished is not in the table" in said
