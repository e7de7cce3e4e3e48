"""What tests of the command line share."""

import os

import pytest

from tests.support.plain_log import log_plainly


@pytest.fixture(autouse=True)
def _default_log():
    """Commands say how the log is written, for the whole process."""
    yield
    log_plainly()


@pytest.fixture
def environ(monkeypatch, tmp_path):
    """No settings from outside; the data folder is a fresh one that is not there yet."""
    for name in [name for name in os.environ if name.startswith("PARTYLINE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return monkeypatch
