"""Timelines in an archive: PostgreSQL begins one with each restore, and follows the newest that it finds.

`wal/00000002.history.gz` says of timeline 2 which ones came before it, and where each was left. A recovery looks for
the history of the next number until there is none; a base that lies behind the point at which its timeline was left
cannot be restored from then on. A new cluster in the same archive has a timeline without a history
(`persistence.embedded.apart`).
"""

import gzip
import json
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from persistence.backup.faults import BackupFault
from persistence.embedded.wal import SEGMENT_BYTES


@dataclass(frozen=True, slots=True)
class Reach:
    """The log that a base needs before it can be used.

    Args:
        timeline: the timeline that all of this log is on.
        start, end: where it begins and ends, as byte positions in the log.
    """

    timeline: int
    start: int
    end: int

    @property
    def first_segment(self) -> str:
        """The segment with which the recovery begins."""
        high, low = divmod(self.start // SEGMENT_BYTES, (1 << 32) // SEGMENT_BYTES)
        return f"{self.timeline:08X}{high:08X}{low:08X}"


def reach_of(base: Path) -> Reach:
    """The log that a base needs, as its `backup_manifest` says.

    Args:
        base: its folder.

    Raises:
        OSError: there is no manifest.
        ValueError: the manifest cannot be read.
    """
    try:
        found = json.loads((base / "backup_manifest").read_bytes())["WAL-Ranges"][0]
        return Reach(int(found["Timeline"]), position(found["Start-LSN"]), position(found["End-LSN"]))
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"{base / 'backup_manifest'} does not say which log it needs") from error


def is_followed(archive: Path, base: Reach) -> bool:
    """Whether a recovery that begins with a base stays on the way to the newest timeline.

    Args:
        archive: the archive's folder.
        base: the log that it needs.

    Raises:
        BackupFault: the history of that timeline cannot be read.
    """
    newest = newest_timeline(archive, base.timeline)
    if newest == base.timeline:
        return True
    return base.end <= _left_at(archive, newest).get(base.timeline, -1)


def newest_timeline(archive: Path, timeline: int) -> int:
    """The newest timeline that a recovery follows; when it ends, PostgreSQL begins the next one.

    Args:
        archive: the archive's folder.
        timeline: the timeline on which the recovery begins.
    """
    return next(number for number in count(timeline) if not _history(archive, number + 1).exists())


def position(text: str) -> int:
    """A position in the log as a number of bytes, from the form in which PostgreSQL writes it.

    Args:
        text: two hexadecimal numbers with a slash between them, such as `0/3000028`.

    Raises:
        ValueError: it is of another form.
    """
    high, low = (int(part, 16) for part in text.split("/"))
    return (high << 32) | low


def _left_at(archive: Path, timeline: int) -> dict[int, int]:
    """{timeline: the position at which it was left}, for those before another."""
    path = _history(archive, timeline)
    try:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
        return {int(row[0]): position(row[1]) for row in rows}
    except (OSError, EOFError, ValueError, IndexError) as error:
        raise BackupFault(f"{path} cannot be read: {error}") from error


def _history(archive: Path, timeline: int) -> Path:
    return archive / "wal" / f"{timeline:08X}.history.gz"
