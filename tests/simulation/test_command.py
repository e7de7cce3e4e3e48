"""`scripts/simulate`: what it is asked, and Ctrl-C."""

import os
import re
import signal
import subprocess
import sys

import pytest

from tests.contract.sources import ROOT
from tests.simulation import plants
from tests.simulation.cluster import plants as cluster_plants
from tests.support.waiting import PATIENCE_SECONDS

COMMAND = [sys.executable, "-m", "tests.simulation"]


def test_the_page_says_how_many_faults_can_be_planted():
    page = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
    [last] = re.findall(r"`--plant` takes 0 to (\d+); with `--nodes`, 0 to (\d+)", page)
    assert tuple(map(int, last)) == (len(plants.PLANTS) - 1, len(cluster_plants.PLANTS) - 1)


def test_seeds_that_are_none_are_refused():
    done = subprocess.run([*COMMAND, "--seeds", "0"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("error: --seeds wants 1 or more\n")


@pytest.mark.slow
def test_ctrl_c_tells_what_was_played():
    with subprocess.Popen(
        [*COMMAND, "--verbose"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "seed 0\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, err) == (128 + signal.SIGINT, "")
    assert " seeds from 0: 0 wrong []; " in out.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("COMPILED") == "1", reason="compiled functions hide what is planted")
def test_the_example_of_the_page_goes_wrong():
    page = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
    [(arguments, planted)] = re.findall(r"^\$ scripts/simulate (.*)\n(planted: .*)$", page, re.MULTILINE)
    command = [*COMMAND, *arguments.split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout.splitlines()[0]) == (1, "", planted)
    assert "WRONG" in done.stdout
