"""What the folder of a cluster says, whether or not PostgreSQL runs: what made it, and whether it has a successor."""

from pathlib import Path

from persistence.embedded.errors import ClusterFaulty


def major_of(home: Path) -> int | None:
    """The major version of PostgreSQL that made the cluster in a folder; None where there is none.

    Raises:
        ClusterFaulty: the folder does not say it.
    """
    try:
        return int((home / "data" / "PG_VERSION").read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        raise ClusterFaulty(f"{home / 'data' / 'PG_VERSION'} does not name a version") from None


def upgraded_home(home: Path) -> Path:
    """The folder in which an upgrade makes a cluster's successor, below the cluster's own folder."""
    return home / "upgrade"


def complete_mark(home: Path) -> Path:
    """The file that marks a successor as complete, until it has taken the cluster's place."""
    return upgraded_home(home) / "complete"


def is_half_upgraded(home: Path) -> bool:
    """Whether a complete successor waits to take the cluster's place, so that the cluster must not be used any more."""
    return complete_mark(home).exists()
