"""Another state of the code beside the working tree: a git worktree in a temporary folder."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GIT_SECONDS = 60


class NoSuchState(Exception):
    """git does not know the state; the message is git's own."""


@contextmanager
def worktree(ref: str, root: Path = ROOT) -> Iterator[Path]:
    """A folder with the code at a commit, branch or tag, for the block.

    Args:
        ref: the commit, branch or tag.
        root: the root of the checkout whose history has it; ours by default.

    Raises:
        NoSuchState: there is no such state, or the checkout is not git's.
    """
    with tempfile.TemporaryDirectory(prefix="partyline-state-") as place:
        folder = Path(place) / "code"
        _git(root, "worktree", "add", "--quiet", "--detach", str(folder), ref)
        try:
            folder.parent.chmod(0o755)
            yield folder
        finally:
            _git(root, "worktree", "remove", "--force", str(folder))


def name_of(folder: Path) -> str:
    """The abbreviated commit of a worktree, with a `+` when something in it was changed since."""
    commit = _git(folder, "rev-parse", "--short", "HEAD")
    return commit + ("+" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=GIT_SECONDS, check=False
    )
    if done.returncode:
        raise NoSuchState(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "git failed")
    return done.stdout.strip()
