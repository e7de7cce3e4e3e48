"""Settings with which PostgreSQL archives its log, and recovers from that archive.

The commands are a shell's and not Python's: PostgreSQL's user may not reach our interpreter. Segments are compressed,
since most of one that was closed for its age is empty. A segment has its name only once it is whole and on the disk,
and is never replaced; PostgreSQL keeps what could not be archived, and tries again.

A status of up to 125 tells a recovery that there is no such segment, at which it takes the log for ended. Whatever
keeps a segment from being read is therefore told as 255, which ends the recovery.
"""

import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import structlog

from persistence.embedded.account import Account
from persistence.embedded.errors import ClusterFaulty, ClusterInUse
from persistence.embedded.lock import exclusive

_log = structlog.get_logger()

SEGMENT_SECONDS = 60
"""A segment that is not empty is closed and archived after this time, so a lost disk costs at most as much."""

SEGMENT_BYTES = 16 << 20
"""The size of a segment before it is compressed; an archive without room for one counts as full."""

_PUT = (
    'if [ -e {file} ]; then gzip -dc {file} | cmp -s - "%p"; '
    'else gzip -1c "%p" > {part} && sync {part} && mv {part} {file} && sync {folder}; fi'
)
_GET = (
    'if [ -e {file} ]; then gzip -dc {file} > "%p" || exit 255; '
    'else names=$(ls {folder}) || exit 255; case "$names" in *%f.gz*) exit 255;; *) exit 1;; esac; fi'
)


def archiving(folder: Path, account: Account) -> dict[str, str]:
    """The settings of a cluster that archives its log; makes the folder for it; blocks.

    Args:
        folder: the archive's folder; segments are in `wal` below it.
        account: the user that runs PostgreSQL, who becomes the owner of `wal`.

    Raises:
        ClusterFaulty: the folder cannot be made, or that user cannot reach it.
    """
    segments = folder.absolute() / "wal"
    try:
        segments.mkdir(parents=True, exist_ok=True)
        account.own(segments, 0o700)
    except OSError as fault:
        raise ClusterFaulty(f"{segments} cannot be used for the log: {fault.strerror}") from None
    if not account.can_enter(segments):
        raise ClusterFaulty(f"the user who runs PostgreSQL (uid {account.uid}) cannot reach {segments}")
    return {
        "archive_mode": "on",
        "archive_timeout": str(SEGMENT_SECONDS),
        "archive_command": _command(_PUT, segments),
    }


@contextmanager
def kept_for_one(folder: Path) -> Iterator[None]:
    """Keep other clusters from archiving into an archive as long as the block lasts.

    A data folder that was copied, and is served beside its original, has the same cluster in it, so that segments of
    both have the same names: each that the copy puts there first is one that the original cannot archive any more, and
    no restore passes from one to the other.

    Args:
        folder: the archive's folder, which exists.

    Raises:
        ClusterFaulty: another server archives there, or this user may not lock the folder.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive(folder.absolute()))
        except ClusterInUse:
            raise ClusterFaulty(
                f"another server archives into {folder}: each has an archive of its own (PARTYLINE_WAL_DIR)"
            ) from None
        except OSError as fault:  # of a drive that has no locks
            _log.warning(
                "the archive cannot be kept from other servers", archive=str(folder), why=fault.strerror
            )
        yield


def recovering(folder: Path, until: datetime | None) -> dict[str, str]:
    """The settings with which a cluster restores itself from an archive; those of `archiving` are separate.

    Args:
        folder: the archive's folder.
        until: the moment after which nothing is restored; None to restore all that is archived.
    """
    settings = {
        # If it were on, PostgreSQL would say that it is ready while it still recovers and can only be read.
        "hot_standby": "off",
        "restore_command": _command(_GET, folder.absolute() / "wal"),
        "recovery_target_action": "promote",
    }
    if until is not None:
        settings["recovery_target_time"] = until.astimezone(UTC).isoformat(sep=" ")
    return settings


def _command(pattern: str, segments: Path) -> str:
    # PostgreSQL replaces %p and %f, and takes %% for a percent sign.
    folder = shlex.quote(str(segments)).replace("%", "%%")
    return pattern.format(folder=folder, file=f"{folder}/%f.gz", part=f"{folder}/%f.part")
