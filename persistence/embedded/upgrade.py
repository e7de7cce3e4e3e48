"""Moves the embedded cluster to a newer major version of PostgreSQL, by a dump into a cluster beside it.

    HOME/data            the cluster; at the end the new one
    HOME/upgrade/data    the new one while it is made
    HOME/data-16         the old one at the end, to go back to; nothing removes it

The old cluster is only read until the new one is whole, which `complete` beside it says. From then on nobody starts the
old one: what it would be told would be lost. Two renames make the exchange; what is interrupted there is finished by
the next call.
"""

import os
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trio

from persistence.backup import programs
from persistence.embedded.account import Account
from persistence.embedded.binaries import find_installation
from persistence.embedded.cluster import Cluster
from persistence.embedded.errors import ClusterFaulty
from persistence.embedded.home import complete_mark, is_half_upgraded, major_of, upgraded_home
from persistence.embedded.lock import exclusive
from persistence.embedded.postgres import choose_home, running


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What an upgrade has done.

    Args:
        former, major: the major versions of PostgreSQL before and after; equal where there was nothing to do.
        left: the folder that keeps the old cluster; None where there was nothing to do.
    """

    former: int
    major: int
    left: Path | None


async def upgrade(data_dir: Path, *, pg_bin: Path | None, old_bin: Path | None) -> Upgraded:
    """Move the cluster of a data folder to the newest PostgreSQL that is found; call it in the main thread.

    Cancellation leaves the old cluster in its place.

    Args:
        data_dir: the data folder, which the caller holds (`hold_data_dir`).
        pg_bin: the folder of the new version's programs; None looks into the wheel, then the system.
        old_bin: the folder of the old version's programs; None looks there as well.

    Raises:
        ClusterFaulty: there is no cluster, it does not start, or the disk has no room for a second one.
        NoPostgres: the programs of one of the two versions were not found.
        BackupFault: the dump could not be made or taken in.
    """
    home, account = await trio.to_thread.run_sync(choose_home, data_dir)
    with exclusive(home):
        if is_half_upgraded(home):
            return _exchange(home)
        former = major_of(home)
        if former is None:
            raise ClusterFaulty(f"there is no database in {home}")
        newest = find_installation(account, pg_bin=pg_bin, major=None)
        if newest.major <= former:
            return Upgraded(former, former, None)
        before = find_installation(account, pg_bin=old_bin, major=former)
        old = Cluster(home, before, account)
        new = Cluster(_make_home(home, former, account), newest, account)
        await trio.to_thread.run_sync(old.prepare)
        await trio.to_thread.run_sync(new.prepare)
        # The old version's own pg_dump, which knows best what that version has written.
        program = programs.find_program("pg_dump", at_least=former, pg_bin=before.folder)
        filler = programs.find_program("pg_restore", at_least=newest.major, pg_bin=newest.folder)
        async with running(old), running(new):
            await trio.to_thread.run_sync(partial(_copy, program, old.dsn, filler, new.dsn))
        complete_mark(home).write_text(str(former))
        os.sync()
        return _exchange(home)


def _make_home(home: Path, former: int, account: Account) -> Path:
    beside = upgraded_home(home)
    shutil.rmtree(beside, ignore_errors=True)
    if (left := _left(home, former)).exists():
        raise ClusterFaulty(f"{left} is in the way: the cluster of an earlier upgrade")
    needed = sum(path.stat().st_size for path in (home / "data").rglob("*") if path.is_file())
    if shutil.disk_usage(home).free < needed:
        raise ClusterFaulty(f"the disk of {home} has no room for a second database of {needed:,} bytes")
    beside.mkdir(mode=0o700)
    account.own(beside, 0o700)
    return beside


def _copy(program: programs.Program, old: str, filler: programs.Program, new: str) -> None:
    check = trio.from_thread.check_cancelled
    with programs.filling(filler, new, check) as database:
        for piece in programs.dump(program, old, check):
            database.write(piece)
        database.finish()


def _left(home: Path, former: int) -> Path:
    return home / f"data-{former}"


def _exchange(home: Path) -> Upgraded:
    """Put the new cluster into the place of the old one; continues where an interrupted call stopped."""
    beside, mark = upgraded_home(home), complete_mark(home)
    former = int(mark.read_text())
    left = _left(home, former)
    if (beside / "data").exists():
        if (home / "data").exists():
            (home / "data").rename(left)
        (beside / "data").rename(home / "data")
        os.sync()
    mark.unlink()
    shutil.rmtree(beside)
    major = major_of(home)
    if major is None:
        raise ClusterFaulty(f"there is no database in {home}")
    return Upgraded(former, major, left)
