"""Restores that could miss something: all that was archived comes back, or the restore says why not."""

import pytest

from persistence.backup.faults import BackupFault
from tests.archiving.installation import installation


@pytest.mark.slow
async def test_a_damaged_segment_ends_a_restore_with_its_name() -> None:
    async with installation() as one:
        await one.base()
        await one.write("a", "b", "c", "d")
        segments = sorted(one.wal.glob("0*[0-9A-F].gz"))
        damaged = segments[-3]
        damaged.write_bytes(damaged.read_bytes()[:-9])
        with pytest.raises(BackupFault, match=rf"{damaged.name} is damaged or cannot be read"):
            await one.lose_and_restore()
