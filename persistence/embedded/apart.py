"""Keeps the log of a new cluster apart from what an earlier one has put into the same archive.

An upgrade, and a restore from a file, make a new cluster, whose log would begin with the names that the archive has had
from the old one; it replaces none, so that nothing could be archived any more. The log of such a cluster is begun anew
behind the newest segment that is there, on a timeline of its own: what pg_upgrade does too.
"""

import re
from pathlib import Path

import structlog

from persistence.embedded.cluster import Cluster
from persistence.embedded.system_identifier import of_log
from persistence.embedded.wal import SEGMENT_BYTES

_log = structlog.get_logger()

_SEGMENT = re.compile(r"[0-9A-F]{24}\.gz")
_HISTORY = re.compile(r"[0-9A-F]{8}\.history\.gz")
_PER_FILE = (1 << 32) // SEGMENT_BYTES


def keep_apart(cluster: Cluster, archive: Path) -> None:
    """Move the log of a cluster behind all that is archived, unless the archive is its own or empty; blocks.

    Args:
        cluster: a prepared cluster that is not running.
        archive: the archive's folder, which has `wal` below it.

    Raises:
        ClusterFaulty: the log cannot be moved.
    """
    folder = archive.absolute() / "wal"
    names = [path.name for path in folder.glob("*.gz")]
    segments = sorted((name[8:24], name) for name in names if _SEGMENT.fullmatch(name))
    if not segments:
        return
    state = cluster.control()
    timeline = int(state["Latest checkpoint's TimeLineID"])
    newest_timeline = max(
        int(name[:8], 16) for name in names if _SEGMENT.fullmatch(name) or _HISTORY.fullmatch(name)
    )
    log_begins = cluster.data / "pg_wal" / state["Latest checkpoint's REDO WAL file"]
    if timeline > newest_timeline and log_begins.exists():
        return
    newest_first = [folder / name for _, name in reversed(segments)]
    own = (path for path in newest_first if int(path.name[:8], 16) == timeline)
    known = {of_log(newest_first), of_log(own)} - {None}
    if not known or int(state["Database system identifier"]) in known:
        return
    if state["Database cluster state"] != "shut down":
        _log.warning(
            "the archive is of another cluster, and this one was not ended in order: nothing is archived until it is "
            "started again",
            archive=str(archive),
        )
        return
    high, low = (int(segments[-1][0][at : at + 8], 16) for at in (0, 8))
    high, low = divmod(high * _PER_FILE + low + 1, _PER_FILE)
    first = f"{newest_timeline + 1:08X}{high:08X}{low:08X}"
    cluster.move_log(first)
    _log.warning(
        "the archive is of another cluster: the log goes on behind it; make a base backup",
        archive=str(archive),
        first=first,
    )
