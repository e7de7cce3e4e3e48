"""Who may read the files of the keys: at every start, not only when somebody asks `partyline doctor`."""

import stat
from pathlib import Path

from routes.edge.identity.keys import KeyFault

OTHERS = 0o077
"""Every right of group and others."""


def close_to_others(data_dir: Path) -> list[Path]:
    """Take the rights of group and others away from the keys: a copy of a folder, or a backup, often adds some.

    Args:
        data_dir: `PARTYLINE_DATA_DIR`; nothing needs to be there yet.

    Returns:
        What was open to others until now.

    Raises:
        KeyFault: a key is open to others, and not ours to close.
    """
    folder = data_dir / "keys"
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
