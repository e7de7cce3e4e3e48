"""A data folder that was copied is not served into the archive of its original while that one is served."""

import subprocess

import pytest
import trio

from persistence.embedded.errors import ClusterFaulty
from persistence.embedded.postgres import embedded_postgres
from tests.support.process import reachable_directory


@pytest.mark.slow
async def test_a_copy_does_not_archive_beside_its_original() -> None:
    with reachable_directory() as place:
        original, copy, archive = place / "original", place / "copy", place / "archive"
        async with embedded_postgres(original, wal_dir=archive):
            pass
        await trio.run_process(["cp", "-a", original, copy], stdout=subprocess.DEVNULL)
        async with embedded_postgres(original, wal_dir=archive):
            with pytest.raises(
                ClusterFaulty, match=r"another server archives into .*: each has an archive of"
            ):
                async with embedded_postgres(copy, wal_dir=archive):
                    pass
            async with embedded_postgres(copy):  # a drill
                pass
        async with embedded_postgres(copy, wal_dir=archive):  # the original has gone
            pass
