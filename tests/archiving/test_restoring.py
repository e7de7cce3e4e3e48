"""Restores that could miss something: all that was archived comes back, or the restore says why not."""

import pytest

from persistence.archiving.bases import bases_in
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


@pytest.mark.slow
async def test_what_was_written_after_a_restore_to_a_moment_survives_the_next_loss() -> None:
    async with installation() as one:
        await one.base()
        await one.write("before")
        moment = await one.now()
        await one.write("a mistake")
        await one.base()
        await one.lose_and_restore(moment)
        assert await one.read() == ["before"]
        await one.write("after the restore")
        await one.lose_and_restore()
        assert await one.read() == ["before", "after the restore"]
        await one.write("after another")
        said = await one.base(keep=1)
        assert "were not needed any more" in said[-1]
        assert len(bases_in(one.archive)) == 1
        await one.lose_and_restore()
        assert await one.read() == ["before", "after the restore", "after another"]
