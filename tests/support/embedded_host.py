"""A process that runs the embedded PostgreSQL until its standard input ends.

    python -m tests.support.embedded_host DATA_DIR PG_BIN UID

PG_BIN and UID may be `-`: the default programs, and the present user.

It prints the address, then the process id of PostgreSQL; where it fails, one line on standard error that says why.
"""

import os
import sys
from pathlib import Path

import structlog
import trio

from persistence.embedded.postgres import embedded_postgres
from persistence.errors import PersistenceError


async def host(data_dir: Path, pg_bin: Path | None) -> None:
    """Run PostgreSQL, print its address and process id, and wait for the end of the input."""
    async with embedded_postgres(data_dir, pg_bin=pg_bin) as url:
        print(url, flush=True)
        print((data_dir / "postgres" / "data" / "postmaster.pid").read_text().split()[0], flush=True)
        await trio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)


def main() -> None:
    """Become the user UID, and host the database."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    data_dir, pg_bin, uid = sys.argv[1:]
    if uid != "-":
        os.setgroups([])
        os.setgid(int(uid))
        os.setuid(int(uid))
    try:
        trio.run(host, Path(data_dir), None if pg_bin == "-" else Path(pg_bin))
    except PersistenceError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
