"""Restores that could miss something: all that was archived comes back, or the restore says why not."""

from datetime import timedelta

import msgspec
import pytest

from persistence.archiving.bases import alone, bases_in
from persistence.backup.faults import BackupFault
from routes.cli.upgrade import upgrade_database
from tests.archiving.installation import Installation, installation
from tests.support.embedded import older


@pytest.mark.drill
async def test_a_damaged_segment_ends_a_restore_with_its_name() -> None:
    async with installation() as one:
        await one.base()
        await one.write("a", "b", "c", "d")
        segments = sorted(one.wal.glob("0*[0-9A-F].gz"))
        damaged = segments[-3]
        damaged.write_bytes(damaged.read_bytes()[:-9])
        with pytest.raises(BackupFault, match=rf"{damaged.name} is damaged or cannot be read"):
            await one.lose_and_restore()


@pytest.mark.drill
async def test_a_moment_after_the_end_of_an_archive_is_told_with_its_end() -> None:
    async with installation() as one:
        await one.base()
        later = await one.now() + timedelta(days=1)
        with pytest.raises(BackupFault, match="ends before that moment, at its base backup; without --until"):
            await one.lose_and_restore(later)
        await one.lose_and_restore()
        await one.write("last")
        with pytest.raises(BackupFault, match=r"at its last transaction, of 20\d\d-.*; without --until"):
            await one.lose_and_restore(later)


@pytest.mark.drill
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


@pytest.mark.drill
async def test_a_new_cluster_goes_on_behind_the_old_one_in_an_archive() -> None:
    async with installation() as one:
        await one.base()
        await one.write("a", "b", "c")
        moment = await one.now()
        await one.write("lost")
        assert await one.last_base_seconds() > 0
        await one.lose_and_restore_file()
        await one.write("d", "e")
        assert await one.last_base_seconds() == 0  # the one that is there restores the old cluster
        old, new = ({path.name[8:24] for path in one.wal.glob(f"0000000{number}0*.gz")} for number in (1, 2))
        assert new and min(new) > max(old)
        await one.base()
        assert await one.last_base_seconds() > 0
        await one.write("f")
        await one.lose_and_restore()
        assert await one.read() == ["a", "b", "c", "lost", "d", "e", "f"]
        await one.lose_and_restore(moment)
        assert await one.read() == ["a", "b", "c"]


@pytest.mark.drill
async def test_a_cluster_that_is_restored_beside_a_newer_one_goes_on_in_the_archive() -> None:
    async with installation() as one:
        await one.base()
        await one.write("a")
        moment = await one.now()
        await one.write("lost")
        await one.lose_and_restore_file()
        await one.write("b")
        await one.lose_and_restore(moment)
        await one.write("c")
        await one.base()
        await one.write("d")
        await one.lose_and_restore()
        assert await one.read() == ["a", "c", "d"]


@pytest.mark.drill
async def test_an_upgraded_database_goes_on_in_the_archive() -> None:
    async with installation(older()) as one:
        await one.write("a", "b", "c")
        config = msgspec.structs.replace(one.config, pg_bin=None)
        await upgrade_database(config, older())
        moved = Installation(config, one.archive)
        await moved.write("d")
        assert await moved.last_base_seconds() == 0
        await moved.base()
        assert await moved.last_base_seconds() > 0
        await moved.write("e")
        await moved.lose_and_restore()
        assert await moved.read() == ["a", "b", "c", "d", "e"]


@pytest.mark.drill
async def test_what_is_left_of_a_base_goes_with_the_next_one() -> None:
    async with installation() as one:
        bases = one.archive / "bases"
        for name in (
            "20260101T040000Z.part",
            "20260102T040000Z",
        ):  # ended while it was made, and while it was removed
            (bases / name).mkdir(parents=True)
            (bases / name / "base.tar.gz").write_bytes(b"half")
        with alone(one.archive), pytest.raises(BackupFault, match="another base backup is being made"):
            await one.base()
        assert len(list(bases.glob("2*"))) == 2
        await one.base()
        assert [path.parent for path in bases.glob("2*/about.json")] == list(bases.glob("2*"))
