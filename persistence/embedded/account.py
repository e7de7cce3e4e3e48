"""The user account that runs the embedded PostgreSQL, which refuses to run as root, and what that user can reach."""

import os
import pwd
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_UNPRIVILEGED = ("postgres", "nobody")
"""The accounts that run PostgreSQL for root: the first that exists. A cluster that exists already keeps its owner."""


@dataclass(frozen=True, slots=True)
class Account:
    """A user account of this machine.

    Args:
        uid, gid: its numeric ids.
        is_self: it is the one that this process runs as, so that no privileges have to be dropped.
    """

    uid: int
    gid: int
    is_self: bool

    @property
    def popen_arguments(self) -> dict[str, Any]:
        """Keyword arguments with which `subprocess` runs a program as this user, in a directory open to every user."""
        return (
            {"cwd": "/"}
            if self.is_self
            else {"cwd": "/", "user": self.uid, "group": self.gid, "extra_groups": ()}
        )

    def can_enter(self, folder: Path) -> bool:
        """Whether the user may enter this folder and all above it; found by running `cd` as that user."""
        enter = subprocess.run(  # noqa: S603
            ["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder)],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **self.popen_arguments,
        )
        return enter.returncode == 0

    def cannot_run(self, cluster: Path) -> str | None:
        """Why the user cannot run a cluster for its owner's sake, in one line; None if nothing is known against it.

        PostgreSQL itself says no more than "Permission denied", of one file and without a name.

        Args:
            cluster: its PGDATA, which need not exist.
        """
        # What PostgreSQL demands (its folder), and what nobody but itself ever writes. Root's folder around it is ours.
        asked = (cluster, cluster / "global" / "pg_control")
        for path in (cluster.parent, *asked) if self.is_self else asked:
            try:
                uid = path.stat().st_uid
            except OSError:
                continue
            if uid != self.uid:
                return f"{path} belongs to {name_of(uid)}, and PostgreSQL runs as {name_of(self.uid)} here"
        return None

    def taking(self, folder: Path) -> str:
        """The command by which root gives the user a folder and all that is in it."""
        return f"chown -R {name_of(self.uid)} {shlex.quote(str(folder))}"

    def own(self, folder: Path, mode: int) -> None:
        """Make the user the owner of a folder, and set its permissions.

        Args:
            mode: the folder's permission bits, such as 0o700.

        Raises:
            OSError: the path is not a folder. A link is not followed: if that user could have made it, root would be
                led to give away whatever it points to.
        """
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not self.is_self:
                os.fchown(descriptor, self.uid, self.gid)
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)


def name_of(uid: int) -> str:
    """The name of a user of this machine; its number, if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def account_for(cluster: Path) -> Account:
    """The account that is to run the cluster in this folder: our own, unless we are root.

    Args:
        cluster: the cluster's PGDATA, which need not exist yet.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), is_self=True)
    if cluster.exists() and (owner := cluster.stat()).st_uid != 0:
        return Account(owner.st_uid, owner.st_gid, is_self=False)
    for name in _UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid, is_self=False)
    return Account(65534, 65534, is_self=False)
