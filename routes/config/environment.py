"""The source of settings: the environment of the process, which overrides a `.env` file."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from routes.config.config import ConfigError
from routes.config.settings import PREFIX

DOTENV = ".env"


def process_environment(directory: Path | None = None) -> dict[str, str]:
    """The environment of this process, with the `PARTYLINE_` variables of a `.env` file that it does not set itself.

    Args:
        directory: the folder of `.env`; None for the working directory. A folder that this user may not enter counts as
            having no `.env`, so that `sudo -u` works from any directory of root.

    Raises:
        ConfigError: the file cannot be read, or a line of it is not `NAME=value`.
    """
    path = (directory or Path()) / DOTENV
    found = {}
    if _is_there(path):
        try:
            text = path.read_text("utf-8-sig")  # editors of some systems begin a file with a mark of its form
        except OSError as fault:
            raise ConfigError(f"{path.absolute()} cannot be read: {fault.strerror}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{path.absolute()} is not text in UTF-8") from None
        found = {name: value for name, value in dotenv(text) if name.startswith(PREFIX)}
    return {**found, **os.environ}


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError:
        return False


_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")


def dotenv(text: str) -> Iterator[tuple[str, str]]:
    """Read a `.env` file as (name, value): `NAME=value`, quotes optional; empty lines and those that begin with `#`
    are skipped. What a quote opens goes on until a line that ends with it, as in systemd's and the shell's files.

    Raises:
        ConfigError: a line has another form, or nothing closes a quote.
    """
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        form = _LINE.fullmatch(bare)
        if form is None:
            raise ConfigError(f"{DOTENV}, line {number}: not NAME=value")
        value = form[2]
        if value[:1] in ("'", '"') and value.count(value[0]) == 1:
            value = "\n".join((value, *_continued(lines, value[0], number)))
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        yield form[1], value


def _continued(lines: Iterator[tuple[int, str]], quote: str, opened: int) -> Iterator[str]:
    for _, line in lines:
        bare = line.rstrip()
        yield bare
        if bare.endswith(quote):
            return
    raise ConfigError(f"{DOTENV}, line {opened}: no line ends with the {quote} that begins the value")
