"""What tables take on disk is looked at, and shown, and what is left there."""

from math import isnan
from pathlib import Path

import pytest

from persistence.bridge.database import Database
from routes.config.config import read_config
from routes.disk import Disk, free_bytes
from tests.support.disks import SMALL_BYTES, small_disk

OWN_DATABASE = {"PARTYLINE_DATABASE_URL": "postgresql://elsewhere/partyline"}
KEPT = OWN_DATABASE | {
    "PARTYLINE_NATS_URL": "nats://127.0.0.1:4222",
    "PARTYLINE_PROCESSES": "2",
    "PARTYLINE_BIND": "fd://5",
    "PARTYLINE_BASE_URL": "http://127.0.0.1:8080",
}


async def test_the_figures_of_the_last_look(database: Database, tmp_path: Path) -> None:
    disk = Disk()
    await disk.look(database, archive=None)
    assert isnan(disk.last_base_seconds)
    await disk.look(database, archive=tmp_path)
    assert disk.last_base_seconds == 0  # there is none yet
    assert disk.journal_bytes > 0
    assert disk.snapshot_bytes > 0
    assert disk.receipt_bytes > 0


@pytest.mark.parametrize(
    ("small", "given", "counts"),
    [
        ("data", {}, True),
        ("data", KEPT, True),
        ("data", OWN_DATABASE, False),
        ("files", {}, True),
        ("files", OWN_DATABASE, True),
    ],
)
def test_the_disk_that_has_least_left_is_shown(
    tmp_path: Path, small: str, given: dict[str, str], counts: bool
) -> None:
    (tmp_path / ({"data": "files", "files": "data"}[small])).mkdir()
    folders = {
        "PARTYLINE_DATA_DIR": str(tmp_path / "data"),
        "PARTYLINE_SHARED_DIR": str(tmp_path / "files"),
    }
    with small_disk(tmp_path / small):
        assert (free_bytes(read_config(folders | given)) <= SMALL_BYTES) is counts
