"""Base backups in an archive: the cluster as pg_basebackup copies it, with what lies beside the database.

ARCHIVE/
  wal/                     segments of the log, compressed
  bases/20261126T041701Z/  one base: base.tar.gz, backup_manifest, about.json, node, keys/
  files/                   attachments and files of releases, by the same names as in their stores
"""

import fcntl
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from persistence.archiving.timelines import Reach, is_followed, position, reach_of
from persistence.backup.faults import BackupFault
from persistence.backup.programs import Program
from persistence.embedded.account import Account
from persistence.embedded.system_identifier import of_log
from persistence.embedded.wal import SEGMENT_BYTES
from persistence.new_file import sync_folder

_SEGMENT = re.compile(r"([0-9A-F]{24})(\.partial|\.[0-9A-F]{8}\.backup)?\.gz")
_LOOK_SECONDS = 0.1


class About(msgspec.Struct, frozen=True):
    """What a base says of itself.

    Args:
        version: the version of Partyline that made it.
        ended_at: the earliest moment to which it can be restored, ISO 8601.
        postgres_major: the major version of the cluster's PostgreSQL.
        first_segment: the name of the first segment of the log that a restore needs.
        migrations: {name: SHA-256} of the migrations that were applied.
    """

    version: str
    ended_at: str
    postgres_major: int
    first_segment: str
    migrations: dict[str, str]

    @property
    def ended(self) -> datetime:
        """The earliest moment to which it can be restored."""
        return datetime.fromisoformat(self.ended_at)


@dataclass(frozen=True, slots=True)
class Base:
    """A complete base backup in the archive.

    Args:
        folder: where it lies.
        about: what its `about.json` says.
    """

    folder: Path
    about: About


def bases_in(archive: Path) -> list[Base]:
    """All complete bases of an archive, the oldest first.

    Raises:
        BackupFault: one of them cannot be read.
    """
    found = []
    for path in sorted((archive / "bases").glob("*/about.json")):
        try:
            found.append(Base(path.parent, msgspec.json.decode(path.read_bytes(), type=About)))
        except (OSError, msgspec.MsgspecError) as error:
            raise BackupFault(f"{path} cannot be read: {error}") from error
    return found


def usable_bases(archive: Path) -> list[Base]:
    """The bases that can be restored, the oldest first.

    After a restore to an earlier moment that goes on in the same archive, the bases made after that moment cannot.

    Args:
        archive: the archive's folder.

    Raises:
        BackupFault: one of them, or a history of the log, cannot be read.
    """
    return [base for base in bases_in(archive) if is_followed(archive, _reach(base))]


def bases_of(archive: Path, system: int | None) -> list[Base]:
    """The bases that can be restored and are of one cluster, the oldest first.

    Those of an earlier cluster in the same archive restore what that one had. A base counts as well where the segment
    with which it begins cannot be read, so that nobody can tell.

    Args:
        archive: the archive's folder.
        system: the cluster's system identifier; None for those of all.

    Raises:
        BackupFault: as with `usable_bases`.
    """
    found = usable_bases(archive)
    return found if system is None else [one for one in found if _system(archive, one) in (system, None)]


def last_base_seconds(archive: Path, system: int | None) -> float:
    """When the newest base of a cluster that can be restored was complete, epoch seconds; 0 where there is none, or
    nobody can tell.

    Args:
        archive: the archive's folder.
        system: the cluster's system identifier; None for all clusters.
    """
    try:
        found = bases_of(archive, system)
    except (BackupFault, OSError):
        return 0.0
    return found[-1].about.ended.timestamp() if found else 0.0


def choose(archive: Path, until: datetime | None) -> Base:
    """The newest base from which a moment can be restored.

    Args:
        archive: the archive's folder.
        until: the moment; None for the newest.

    Raises:
        BackupFault: there is no such base.
    """
    found = usable_bases(archive)
    fits = [base for base in found if until is None or base.about.ended <= until]
    if not found:
        left = len(bases_in(archive))
        but = f" but {left} of before a restore to an earlier moment" if left else ""
        raise BackupFault(f"there is no base backup in {archive}{but}")
    if not fits:
        raise BackupFault(f"the oldest base backup is of {found[0].about.ended_at}, after that moment")
    return fits[-1]


def take(
    archive: Path,
    program: Program,
    dsn: str,
    *,
    beside: tuple[Path, ...],
    about: Callable[[str, str], About],
    check: Callable[[], None],
) -> Base:
    """Copy a running cluster into the archive; blocks until it is there and on the disk.

    Args:
        archive: the archive's folder.
        program: pg_basebackup.
        dsn: the address of the cluster.
        beside: files and folders that are copied into the base.
        about: makes the base's `About`, given the moment at which the copy ended (ISO 8601) and its first segment.
        check: called now and then; what it raises ends the program, and leaves no base.

    The caller has the archive for itself (`alone`): what an earlier call has left in part is removed first.

    Raises:
        BackupFault: pg_basebackup failed, or the disk did.
    """
    began = datetime.now(UTC)
    folder = archive / "bases" / began.strftime("%Y%m%dT%H%M%SZ")
    part = folder.with_name(f"{folder.name}.part")
    try:
        _remove_parts(archive)
        part.mkdir(parents=True, mode=0o700)
        _run(program, dsn, part, check)
        for path in beside:
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, part / path.name)
        made = about(datetime.now(UTC).isoformat(), reach_of(part).first_segment)
        (part / "about.json").write_bytes(msgspec.json.encode(made))
        os.sync()
        part.rename(folder)
        sync_folder(folder.parent)
    except OSError as error:
        raise BackupFault(f"{error.filename or part}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Base(folder, made)


def unpack(base: Base, home: Path, account: Account) -> None:
    """Put the cluster of a base below a folder, ready to recover; blocks.

    Args:
        base: the base to restore.
        home: the cluster's folder, in which `data` is made.
        account: the user who is to run the cluster, and becomes the owner of its files.

    Raises:
        BackupFault: the base is damaged, or the disk is full.
    """
    data = home / "data"
    try:
        with tarfile.open(base.folder / "base.tar.gz") as archive:
            _extract(archive, data)
        (data / "recovery.signal").touch(0o600)
        data.chmod(0o700)
        if not account.is_self:
            for path in (data, *data.rglob("*")):
                os.chown(path, account.uid, account.gid, follow_symlinks=False)
    except (OSError, EOFError, tarfile.TarError) as error:
        raise BackupFault(f"{base.folder} cannot be restored: {error}") from error


def _extract(archive: tarfile.TarFile, folder: Path) -> None:
    # Python 3.11 knows filters from its fourth patch on only: what they refuse is refused here, and owners are ours.
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    for member in archive:
        path = Path(member.name)
        if path.is_absolute() or ".." in path.parts or not (member.isreg() or member.isdir()):
            raise tarfile.TarError(f"it holds {member.name!r}")
        member.uid, member.gid, member.uname, member.gname = os.geteuid(), os.getegid(), "", ""
        archive.extract(member, folder)


def prune(archive: Path, keep: int) -> Iterator[Path]:
    """Remove bases but the newest ones, and the log that only those needed; yields what was removed.

    Args:
        archive: the archive's folder.
        keep: how many bases stay, 1 or more; those that cannot be restored any more do not count, and go with the
            usable ones from before them.

    Raises:
        BackupFault: one of them cannot be read.
    """
    kept = usable_bases(archive)[-keep:]
    if not kept:
        return
    for base in bases_in(archive):
        if base.about.ended < kept[0].about.ended:
            # First of all what makes it a base: what an interruption leaves then is a part.
            (base.folder / "about.json").unlink()
            shutil.rmtree(base.folder)
            yield base.folder
    first = min(base.about.first_segment[8:] for base in kept)
    for path in sorted((archive / "wal").iterdir()):
        match = _SEGMENT.fullmatch(path.name)
        # Timelines do not count: their segments go on with the numbers of the one before.
        if match is not None and match[1][8:] < first:
            path.unlink()
            yield path


@contextmanager
def alone(archive: Path) -> Iterator[None]:
    """Make and remove bases as long as the block lasts, and nobody else meanwhile; a killed process lets go of it.

    Args:
        archive: the archive's folder; created if it is absent.

    Raises:
        BackupFault: another process does that, or the folder cannot be used.
    """
    try:
        (archive / "bases").mkdir(parents=True, exist_ok=True)
        descriptor = os.open(archive / "bases" / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise BackupFault(f"{error.filename or archive}: {error.strerror or error}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupFault(f"another base backup is being made in {archive}") from None
        yield
    finally:
        os.close(descriptor)


def _remove_parts(archive: Path) -> None:
    """Remove what was interrupted while it was made or removed: a folder is a base once it says about itself."""
    for folder in sorted((archive / "bases").iterdir()):
        if folder.is_dir() and (folder.suffix == ".part" or not (folder / "about.json").exists()):
            shutil.rmtree(folder)


def _system(archive: Path, base: Base) -> int | None:
    return of_log([archive / "wal" / f"{base.about.first_segment}.gz"])


def _reach(base: Base) -> Reach:
    try:
        return reach_of(base.folder)
    except FileNotFoundError:  # all that is left to judge by is where it begins
        timeline, high, low = (int(base.about.first_segment[at : at + 8], 16) for at in (0, 8, 16))
        start = position(f"{high:X}/{low * SEGMENT_BYTES:X}")
        return Reach(timeline, start, start)
    except (OSError, ValueError) as error:
        raise BackupFault(f"{base.folder / 'backup_manifest'} cannot be read: {error}") from error


def _run(program: Program, dsn: str, target: Path, check: Callable[[], None]) -> None:
    command = [
        str(program.path), "--dbname", dsn, "--pgdata", str(target), "--format=tar", "--gzip",
        "--wal-method=none", "--checkpoint=fast", "--no-password",
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:  # noqa: S603
        try:
            while True:
                try:
                    _, said = run.communicate(timeout=_LOOK_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    check()
        except BaseException:
            run.kill()
            raise
    if run.returncode:
        last = said.decode(errors="replace").strip().splitlines()
        raise BackupFault(f"pg_basebackup failed: {last[-1] if last else 'it said nothing'}")
