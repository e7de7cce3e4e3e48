"""Clusters of PostgreSQL that are made once in each process of the run, for tests of what comes afterwards.

initdb takes 0.55 s of CPU, a copy of what it has made 0.05. Tests of a first start, of who owns what, and of where a
cluster may lie make their own.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from persistence.embedded.postgres import choose_home, open_cluster
from tests.support.process import reachable_directory


class Clusters:
    """Lays copies of one cluster into data folders.

    Args:
        folder: holds the one that is copied, which the first who asks makes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: Path | None = None

    def lay_into(self, data_dir: Path) -> None:
        """Have a data folder hold a cluster that was never started, as a start leaves it that ends before PostgreSQL's.

        Args:
            data_dir: a folder without a cluster, or none yet; PostgreSQL's user has to reach it.
        """
        if self._made is None:
            self._made = open_cluster(*choose_home(self._folder), pg_bin=None).data
        home, _ = choose_home(data_dir)
        subprocess.run(["cp", "-a", self._made, home / "data"], check=True)


@pytest.fixture(scope="session")
def clusters() -> Iterator[Clusters]:
    """See `Clusters`."""
    with reachable_directory() as folder:
        yield Clusters(folder)
