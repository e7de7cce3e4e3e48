"""Runs the program in a forked process; importing this module imports all of the program."""

import gc
import os
import signal
import sys
import tempfile

import routes.process  # noqa: F401 — what `serve` imports, and the other commands with it
from routes.cli.main import main

# Else the collector of every process that is forked would look through all that is imported, and copy it by that.
gc.freeze()


def run(
    arguments: tuple[str, ...],
    environment: dict[str, str],
    folder: str,
    files: tuple[str, str],
    input: str,
    *,
    in_background: bool = False,
) -> None:
    """Run `partyline` with its own environment, folder and standard files, and exit as it does.

    Args:
        arguments: the arguments of the command line.
        environment: all environment variables.
        folder: the working folder.
        files: paths of the files to whose end stdout and stderr are written.
        input: the text on stdin.
        in_background: whether Ctrl-C is ignored, as in the background of a script.
    """
    if in_background:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with tempfile.TemporaryFile() as given:
        given.write(input.encode())
        given.seek(0)
        os.dup2(given.fileno(), 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 — until the end; multiprocessing gave another
    for standard, path in enumerate(files, start=1):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.dup2(file, standard)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["partyline", *arguments]
    sys.exit(main())
