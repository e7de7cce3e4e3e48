"""`scripts/fetch-geoip [FILE]`: fetches DB-IP's City Lite, a free GeoIP database, and puts it in place whole.

It is published each month under CC BY 4.0: whoever shows results of it has to name DB-IP, with a link. A server that
runs with the file as PARTYLINE_GEOIP_DB takes the new one by itself.
"""

import argparse
import fcntl
import os
import signal
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import httpx2

from persistence.ip.geo_file import NotUsable, open_geo_file

ADDRESS = "https://download.db-ip.com/free"
ATTRIBUTION = (
    "The licence, CC BY 4.0, asks you to show this on every page that shows results:\n"
    '    <a href="https://db-ip.com">IP Geolocation by DB-IP</a>'
)
MAX_BYTES = 2 << 30
"""Largest database, unpacked; that of 2026 has 130 MB."""


class CannotFetch(Exception):
    """There is no database; the message says why."""


def months(today: date) -> Iterator[str]:
    """This month and the one before, as file names have them: on the first of a month the new one may be late.

    Args:
        today: in UTC.
    """
    yield f"{today:%Y-%m}"
    yield f"{today.replace(day=1) - timedelta(days=1):%Y-%m}"


def unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The content of a gzip file.

    Raises:
        CannotFetch: it is no gzip file, ends early, or is larger than any database.
    """
    inflate, size_bytes = zlib.decompressobj(wbits=31), 0
    try:
        for chunk in chunks:
            data = inflate.decompress(chunk)
            size_bytes += len(data)
            if size_bytes > MAX_BYTES:
                raise CannotFetch("what came is far too large")
            yield data
        yield inflate.flush()
    except zlib.error as fault:
        raise CannotFetch(f"what came is not a gzip file: {fault}") from fault
    if not inflate.eof:
        raise CannotFetch("what came ended early")


def fetch(address: str, path: Path, today: date) -> str:
    """Put the newest database into place, whole; returns its month.

    Args:
        address: the address of the folder that the databases lie in.
        path: the file, which is replaced only by a database that can be used.
        today: today's date in UTC.

    Raises:
        CannotFetch: there is no database, it cannot be used, or it cannot be written; or another run is fetching it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _replacing(path) as file:
            month = _download(address, file, today)
            file.flush()
            open_geo_file(Path(file.name), path.parent).close()
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as fault:
        raise CannotFetch(f"{address}: {fault or type(fault).__name__}") from fault
    except NotUsable as fault:
        raise CannotFetch(str(fault)) from fault
    except OSError as fault:
        raise CannotFetch(f"{fault.filename or path}: {fault.strerror}") from fault
    return month


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` at the end of the block, or is removed if that raises.

    It has one name beside `path`, and a lock, which ends with its process: what a killed run has left is written anew,
    and nobody writes what another run is writing.

    Raises:
        CannotFetch: another run is writing it.
        OSError: it cannot be written.
    """
    beside = path.with_name(path.name + ".part")
    with beside.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(file.fileno()), beside.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:  # or another run has put it in place, or removed it, since it was opened
            raise CannotFetch(f"another run is fetching {path}")
        try:
            file.truncate(0)
            yield file
            beside.rename(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def _download(address: str, file: BinaryIO, today: date) -> str:
    try:
        client = httpx2.Client(follow_redirects=True, timeout=60)
    except (ImportError, ValueError) as fault:
        raise CannotFetch("the proxy that the environment names is none of http or https") from fault
    with client as http:
        for month in months(today):
            with http.stream("GET", f"{address}/dbip-city-lite-{month}.mmdb.gz") as answer:
                if answer.status_code == 404:
                    continue
                if answer.status_code != 200:
                    raise CannotFetch(f"{answer.url} answered {answer.status_code}")
                for data in unpacked(answer.iter_raw()):
                    file.write(data)
                return month
    raise CannotFetch(f"{address} has neither this month's database nor the last one's")


def main(arguments: list[str] | None = None) -> int:
    """Fetch, and say what is to be done with it; returns the exit status.

    Args:
        arguments: those after the program's name; None takes those of the process.
    """
    parser = argparse.ArgumentParser(
        prog="partyline-fetch-geoip",
        description=f"Fetch DB-IP's City Lite, a free GeoIP database. {__doc__.partition(chr(10) * 2)[2]}",
        epilog="Exit status: 0, the file is the newest database; 1, it was left as it was.",
    )
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        default=Path(".partyline/dbip-city-lite.mmdb"),
        help="where to put it (default: %(default)s)",
    )
    parser.add_argument(
        "--address", default=ADDRESS, help="another place that has the files (default: %(default)s)"
    )
    parsed = parser.parse_args(arguments)
    if not parsed.file.name:
        parser.error("argument file: names a folder, or nothing")
    try:
        month = fetch(parsed.address, parsed.file, datetime.now(UTC).date())
    except CannotFetch as fault:
        print(f"fetch-geoip: {fault}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("fetch-geoip: interrupted; nothing was changed", file=sys.stderr)
        return 128 + signal.SIGINT
    print(f"DB-IP City Lite of {month} is {parsed.file.resolve()}")
    print(f"Set PARTYLINE_GEOIP_DB={parsed.file.resolve()}\n\n{ATTRIBUTION}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
