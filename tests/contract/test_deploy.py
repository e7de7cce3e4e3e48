"""What we ship to run the service with is in order: names of settings and files, and how far systemd confines it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from routes.edge.config.table import PREFIX, SETTINGS
from tests.contract.sources import OF_THE_BUILD, ROOT

SHIPPED = [ROOT / "Dockerfile", ROOT / "compose.yaml", *sorted((ROOT / "deploy").iterdir())]

MOST_EXPOSED = 1.5
"""Of ten, as systemd-analyze counts; a service without any confinement has 9.6."""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_only_settings_that_exist_are_named(path: Path) -> None:
    known = {setting.name for setting in SETTINGS} | {OF_THE_BUILD}
    assert set(re.findall(rf"{PREFIX}[A-Z_]+", path.read_text())) <= known


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    sources = {source for sources in copied for source in sources}
    assert {source for source in sources if not (ROOT / source).exists()} == set()
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept == sources


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here")
def test_systemd_takes_the_unit_and_confines_it(tmp_path: Path) -> None:
    unit = tmp_path / "partyline.service"
    text = (ROOT / "deploy" / "partyline.service").read_text()
    unit.write_text(text.replace("/opt/partyline/bin/partyline", "/bin/true"))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", unit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (verified.returncode, verified.stderr) == (0, "")
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", unit],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.search(r"Overall exposure level for partyline.service: ([0-9.]+)", rated.stdout)
    assert found is not None
    assert float(found[1]) <= MOST_EXPOSED
