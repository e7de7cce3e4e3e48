"""The parts of an archive: which base serves a moment, what is removed, which files are copied, what commands do."""

import gzip
import os
import struct
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from persistence.archiving.bases import (
    About,
    bases_in,
    bases_of,
    choose,
    last_base_seconds,
    prune,
    usable_bases,
)
from persistence.archiving.files import FileArchive, bring_back
from persistence.backup.faults import BackupFault
from persistence.embedded.account import Account
from persistence.embedded.errors import ClusterFaulty
from persistence.embedded.wal import archiving, recovering
from routes.cli.archiving import moment
from routes.cli.doctor import examine
from routes.cli.doctor_backups import backup
from routes.cli.faults import CommandFault
from routes.config.config import read_config

SELF = Account(os.geteuid(), os.getegid(), is_self=True)
ABSENT, UNREADABLE = 1, 255
AT = datetime(2026, 11, 26, 4, 0, tzinfo=UTC)


def add_base(archive: Path, number: int, ended: datetime | None = None) -> None:
    """The base of a day, which begins with the segment of its number."""
    folder = archive / "bases" / f"2026112{number}T040000Z"
    folder.mkdir(parents=True)
    at = ended or AT + timedelta(days=number)
    about = About("1", at.isoformat(), 18, f"{1:08X}{0:08X}{number * 16:08X}", {})
    (folder / "about.json").write_bytes(msgspec.json.encode(about))


def a_segment(number: int, timeline: int = 1) -> str:
    return f"{timeline:08X}{0:08X}{number:08X}.gz"


@pytest.mark.parametrize(
    ("until", "chosen"),
    [
        (None, 3),
        (AT + timedelta(days=3, hours=1), 3),
        (AT + timedelta(days=2, hours=1), 2),
        (AT + timedelta(days=2), 2),
    ],
)
def test_the_newest_base_before_a_moment_is_chosen(tmp_path: Path, until: datetime | None, chosen: int):
    for number in (1, 2, 3):
        add_base(tmp_path, number)
    (tmp_path / "bases" / "20261129T040000Z.part").mkdir()
    assert choose(tmp_path, until).about.ended == AT + timedelta(days=chosen)


def test_a_moment_before_all_bases_is_refused(tmp_path: Path):
    with pytest.raises(BackupFault, match="no base backup"):
        choose(tmp_path, None)
    add_base(tmp_path, 1)
    with pytest.raises(BackupFault, match="oldest base backup is of 2026-11-27"):
        choose(tmp_path, AT)
    next(tmp_path.glob("bases/*/about.json")).write_text("{")
    with pytest.raises(BackupFault, match="cannot be read"):
        choose(tmp_path, None)


def add_history(archive: Path, *left: tuple[int, int]) -> None:
    """The history of the timeline behind those that are named, each with the segment in which it was left."""
    (archive / "wal").mkdir(exist_ok=True)
    said = "".join(f"{timeline}\t0/{number << 24:X}\tbefore then\n" for timeline, number in left)
    (archive / "wal" / f"{left[-1][0] + 1:08X}.history.gz").write_bytes(gzip.compress(said.encode()))


def test_a_base_of_a_timeline_that_was_left_before_it_is_not_chosen(tmp_path: Path):
    for number in (1, 2, 3):
        add_base(tmp_path, number)
    add_history(tmp_path, (1, 40))
    assert [base.about.ended.day for base in usable_bases(tmp_path)] == [27, 28]
    assert choose(tmp_path, AT + timedelta(days=9)).about.ended == AT + timedelta(days=2)
    assert [path.name for path in prune(tmp_path, 1)] == ["20261121T040000Z"]
    assert len(bases_in(tmp_path)) == 2
    add_history(tmp_path, (1, 20), (2, 90))
    with pytest.raises(BackupFault, match=r"no base backup .* but 2 of before a restore"):
        choose(tmp_path, None)
    assert list(prune(tmp_path, 1)) == [] and len(bases_in(tmp_path)) == 2
    next(tmp_path.glob("wal/00000003*")).write_bytes(b"spoilt")
    with pytest.raises(BackupFault, match=r"00000003.history.gz cannot be read"):
        choose(tmp_path, None)


def test_the_newest_base_that_can_be_restored_says_how_old_the_last_is(tmp_path: Path):
    assert last_base_seconds(tmp_path, None) == 0
    for number in (1, 2, 3):
        add_base(tmp_path, number)
    assert last_base_seconds(tmp_path, None) == (AT + timedelta(days=3)).timestamp()
    add_history(tmp_path, (1, 40))
    assert last_base_seconds(tmp_path, None) == (AT + timedelta(days=2)).timestamp()
    next(tmp_path.glob("bases/*/about.json")).write_text("{")
    assert last_base_seconds(tmp_path, None) == 0  # as long as nobody can tell what is there


def add_segment(archive: Path, number: int, system: int) -> None:
    """The head of a segment, which says of which cluster it is."""
    (archive / "wal").mkdir(exist_ok=True)
    head = struct.pack("=HHIQI4xQ", 0xD118, 2, 1, number << 24, 0, system)
    (archive / "wal" / a_segment(number)).write_bytes(gzip.compress(head))


def test_the_bases_of_an_earlier_cluster_are_not_those_of_this_one(tmp_path: Path):
    for number in (1, 2):
        add_base(tmp_path, number)
        add_segment(tmp_path, number * 16, system=7)
    assert last_base_seconds(tmp_path, 7) == (AT + timedelta(days=2)).timestamp()
    assert last_base_seconds(tmp_path, 8) == 0
    add_base(tmp_path, 3)
    add_segment(tmp_path, 48, system=8)
    assert last_base_seconds(tmp_path, 8) == (AT + timedelta(days=3)).timestamp()
    assert [base.about.ended.day for base in bases_of(tmp_path, 7)] == [27, 28]
    (tmp_path / "wal" / a_segment(16)).write_bytes(b"spoilt")  # then nobody can tell
    assert [base.about.ended.day for base in bases_of(tmp_path, 8)] == [27, 29]
    assert [base.about.ended.day for base in usable_bases(tmp_path)] == [27, 28, 29]


async def test_the_doctor_wants_a_backup_where_the_only_base_is_of_another_database(tmp_path: Path):
    add_base(tmp_path / "archive", 1, ended=datetime.now(UTC))
    add_segment(tmp_path / "archive", 16, system=7)
    control = tmp_path / "data/postgres/data/global/pg_control"
    control.parent.mkdir(parents=True)
    config = read_config(
        {"PARTYLINE_DATA_DIR": str(tmp_path / "data"), "PARTYLINE_WAL_DIR": str(tmp_path / "archive")}
    )
    for system, says in ((7, "never made, and the archive has a base backup"), (8, "never made")):
        control.write_bytes(struct.pack("=QII", system, 1800, 0))
        assert [one.says for one in backup(config)] == [says]


@pytest.mark.parametrize(("days", "is_enough"), [(7, True), (9, False)])
async def test_the_doctor_wants_a_backup_where_no_base_is_young_enough(
    tmp_path: Path, days: int, is_enough: bool
):
    add_base(tmp_path / "archive", 1, ended=datetime.now(UTC) - timedelta(days=days))
    config = read_config(
        {"PARTYLINE_DATA_DIR": str(tmp_path / "data"), "PARTYLINE_WAL_DIR": str(tmp_path / "archive")}
    )
    [backup] = [one async for one in examine(config) if one.about == "backup"]
    assert backup.says == "never made, and the archive has a base backup" if is_enough else "never made"
    assert (backup.cure is None) is is_enough


def test_a_base_that_ended_behind_where_its_timeline_was_left_is_of_no_use(tmp_path: Path):
    add_base(tmp_path, 1)
    add_history(tmp_path, (1, 17))
    manifest = tmp_path / "bases/20261121T040000Z/backup_manifest"
    for end, is_usable in (("0/11000000", True), ("0/11000001", False)):
        ranges = [{"Timeline": 1, "Start-LSN": "0/10000028", "End-LSN": end}]
        manifest.write_bytes(msgspec.json.encode({"WAL-Ranges": ranges}))
        assert bool(usable_bases(tmp_path)) is is_usable
    manifest.write_text("{}")
    with pytest.raises(BackupFault, match="backup_manifest"):
        usable_bases(tmp_path)


def test_what_only_removed_bases_needed_goes_with_them(tmp_path: Path):
    for number in (1, 2, 3):
        add_base(tmp_path, number)
    add_history(tmp_path, (1, 60))
    kept = {a_segment(32), a_segment(33), a_segment(40, timeline=2), "00000002.history.gz"}
    gone = {
        a_segment(16),
        a_segment(31),
        a_segment(31, timeline=2),
        f"{a_segment(16)[:24]}.00000028.backup.gz",
        f"{a_segment(16)[:24]}.partial.gz",
    }
    for name in (kept | gone) - {"00000002.history.gz"}:
        (tmp_path / "wal" / name).touch()
    removed = {path.name for path in prune(tmp_path, 2)}
    assert removed == gone | {"20261121T040000Z"}
    assert {path.name for path in (tmp_path / "wal").iterdir()} == kept
    assert len(bases_in(tmp_path)) == 2


def put(root: Path, number: int, store: str = "blobs") -> Path:
    name = f"{number:064x}"
    path = root / store / name[:2] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"%d" % number)
    return path


def test_each_file_is_copied_once_and_comes_back(tmp_path: Path):
    shared, archive, restored = tmp_path / "shared", tmp_path / "archive", tmp_path / "restored"
    put(shared, 1)
    put(shared, 2, "artifacts")
    (shared / "blobs/00/half-written.part").touch()
    files = FileArchive(shared, archive)
    assert (files.copy_new(lambda: None), files.copy_new(lambda: None)) == (2, 0)
    settled = shared / "blobs/00"
    os.utime(settled, (1, 1))
    assert files.copy_new(lambda: None) == 0
    gone = put(shared, 3)
    assert files.copy_new(lambda: None) == 1
    assert bring_back(archive, restored, lambda: None) == 3
    assert (restored / gone.relative_to(shared)).read_bytes() == b"3"


def test_two_copy_at_the_same_time(tmp_path: Path):
    """The server each minute, and `base-backup`: what the other has copied meanwhile is there, and no fault."""
    shared, archive = tmp_path / "shared", tmp_path / "archive"
    put(shared, 1)
    put(shared, 2)
    other = FileArchive(shared, archive)
    assert FileArchive(shared, archive).copy_new(lambda: other.copy_new(lambda: None) and None) == 0
    assert sorted(path.read_bytes() for path in (archive / "files/blobs/00").iterdir()) == [b"1", b"2"]


def test_a_file_stays_as_long_as_a_base_of_before_it_went(tmp_path: Path):
    """A base needs what was deleted after it, however long before it that was archived."""
    shared, archive, restored = tmp_path / "shared", tmp_path / "archive", tmp_path / "restored"
    gone, files = put(shared, 1), FileArchive(shared, archive)
    assert files.copy_new(lambda: None) == 1
    kept = archive / "files" / gone.relative_to(shared)
    os.utime(kept, (1, 1))
    base_ended = time.time()
    gone.unlink()
    assert files.forget_removed(base_ended) == 0
    assert bring_back(archive, restored, lambda: None) == 1
    assert (restored / gone.relative_to(shared)).read_bytes() == b"1"
    mark = kept.with_name(f"{kept.name}.gone")
    seen = mark.stat().st_mtime
    assert seen >= base_ended and files.forget_removed(seen) == 0
    draft = kept.with_name(f".{kept.name}.ab.part")
    draft.touch()
    os.utime(draft, (1, 1))
    assert files.forget_removed(seen + 1) == 1
    assert list(kept.parent.iterdir()) == []


def test_a_file_that_comes_back_is_missed_no_more(tmp_path: Path):
    shared, archive = tmp_path / "shared", tmp_path / "archive"
    gone, files = put(shared, 1), FileArchive(shared, archive)
    put(shared, 2)
    kept = archive / "files" / gone.relative_to(shared)
    mark = kept.with_name(f"{kept.name}.gone")
    files.copy_new(lambda: None)
    gone.unlink()
    files.copy_new(lambda: None)
    assert mark.exists()
    put(shared, 1)
    files.copy_new(lambda: None)
    assert not mark.exists()
    assert files.forget_removed(time.time() + 1) == 0 and kept.exists()


@pytest.mark.parametrize("name", ["archive", "an archive's", "100%"])
def test_commands_are_of_any_folder(tmp_path: Path, name: str):
    """A segment is put, put again, and fetched by the commands themselves, as PostgreSQL's shell runs them."""
    folder = tmp_path / name
    options = archiving(folder, SELF)
    source, fetched = tmp_path / "pg_wal", tmp_path / "fetched"
    source.write_bytes(b"log" * 1000)

    def run(command: str, path: Path) -> int:
        said = command.replace("%p", str(path)).replace("%f", "0" * 24).replace("%%", "%")
        return os.waitstatus_to_exitcode(os.system(said))

    assert run(options["archive_command"], source) == 0
    assert run(options["archive_command"], source) == 0
    assert [path.name for path in (folder / "wal").iterdir()] == [f"{'0' * 24}.gz"]
    get = recovering(folder, None)["restore_command"]
    assert run(get, fetched) == 0 and fetched.read_bytes() == source.read_bytes()
    source.write_bytes(b"another")
    assert run(options["archive_command"], source) != 0
    [segment] = (folder / "wal").iterdir()
    segment.write_bytes(segment.read_bytes()[:-9])
    assert run(get, fetched) == UNREADABLE
    segment.unlink()
    assert run(get, fetched) == ABSENT
    segment.symlink_to("is listed, and cannot be looked at")
    assert run(get, fetched) == UNREADABLE
    segment.unlink()
    (folder / "wal").rename(folder / "aside")
    assert run(get, fetched) == UNREADABLE
    assert "recovery_target_time" not in recovering(folder, None)
    assert recovering(folder, AT)["recovery_target_time"] == "2026-11-26 04:00:00+00:00"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(ClusterFaulty, match="cannot be used"):
        archiving(tmp_path / "file", SELF)


@pytest.mark.parametrize("text", ["yesterday", "2026-11-26", "2026-11-26T10:15:00"])
def test_a_moment_has_an_offset(text: str):
    with pytest.raises(CommandFault, match="wants a moment"):
        moment(text)
    assert moment(None) is None and moment("2026-11-26T04:00:00Z") == AT
