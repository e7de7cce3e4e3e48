"""File permissions of the keys: corrected at every start, where `partyline doctor` only reports them."""

import stat
from pathlib import Path

from routes.edge.identity.keys import KeyFault

OTHERS = 0o077
"""All permission bits of group and others."""


def close_to_others(shared_dir: Path) -> list[Path]:
    """Take the permissions of group and others away from the key files; copies and backups often add some.

    Args:
        shared_dir: `PARTYLINE_SHARED_DIR`; it need not exist yet.

    Returns:
        The files and folders that were open to others.

    Raises:
        KeyFault: a file is open to others, and its permissions cannot be changed.
    """
    folder = shared_dir / "keys"
    if not folder.is_dir():
        return []
    opened = []
    for path in (folder, *sorted(folder.iterdir())):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OTHERS:
            try:
                path.chmod(mode & ~OTHERS)
            except OSError as error:
                raise KeyFault(f"{path} can be read by others: chmod go-rwx {path}") from error
            opened.append(path)
    return opened
