"""`partyline doctor`: checks everything that a start depends on, changes nothing, and says what to do.

Each check is a function that yields findings; a check that cannot be carried out is a finding too.
"""

import errno
import os
import resource
import shutil
import socket
import stat
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import trio

from compiled.finding import Standing, standing
from persistence.bridge.database import Database, open_database
from persistence.embedded.account import account_for
from persistence.embedded.address import running_address
from persistence.embedded.binaries import NoPostgres, find_installation
from persistence.embedded.data_dir import is_half_restored, is_held
from persistence.embedded.home import is_half_upgraded, major_of
from persistence.errors import PersistenceError
from persistence.nodes import members
from persistence.nodes.members import State
from persistence.schema import checks
from persistence.schema.migrate import unapplied
from routes.cli import doctor_backups
from routes.cli.files import AS_SERVICE, is_closed
from routes.cli.finding import Finding
from routes.cli.interpreter import is_optimised, present_build
from routes.clocks import ClockUnset, require_time
from routes.config.config import Config
from routes.disk import archive_of
from routes.edge.binds import Bind, Descriptor
from routes.edge.faults import OperatorFault
from routes.edge.identity.keys import KeyFault, has_master, open_keys
from routes.edge.tls.certificate import CertificateFault, ServerCertificate
from routes.joining import CLOCK_MAX_MS
from routes.keeper.nats import kept_url
from routes.matching import CURE, mismatch
from routes.open_files import SPARE, affordable, wanted_limit

FREE_MIN_BYTES = 1 << 30
"""With less free space, the write-ahead log alone may fill the disk."""

CLOCK_MAX_SECONDS = 5
"""Largest difference to the database's clock; beyond it, tokens of other machines begin to be refused."""

GEOIP_MAX_DAYS = 62
"""An older database of addresses has missed an edition at least: the free ones are published each month, or oftener."""

CERTIFICATE_MIN_DAYS = 14
"""With less time left, whatever renews the certificate has probably failed."""


OPTIMISE = (
    "use the system's Python, or one made with --enable-optimizations --with-lto: 0.7 to 0.8 of the CPU time"
)


async def examine(config: Config) -> AsyncIterator[Finding]:
    """Run all checks and yield their findings, in the order in which a start depends on them."""
    for finding in (*_python(), modules(standing())):
        yield finding
    for finding in _clock():
        yield finding
    # Where the shared folder is closed, so are the keys in it, which need no line of their own.
    keys = config.shared_dir if is_closed(config.shared_dir) else config.shared_dir / "keys"
    closed = list(filter(is_closed, dict.fromkeys((config.data_dir, config.shared_dir, keys))))
    for folder in closed:
        yield Finding("data folder", f"{folder} cannot be looked into", AS_SERVICE)
    if closed:  # whatever else there is to say would be said of somebody else's installation
        return
    for finding in (*_folders(config), *_keys(config)):
        yield finding
    async for finding in _database(config):
        yield finding
    for finding in (
        *doctor_backups.backup(config),
        *_certificate(config),
        *_settings(config),
        *_geoip(config),
        *_addresses(config),
        *_descriptors(config),
    ):
        yield finding


def _python() -> Iterator[Finding]:
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    fits = (3, 11) <= sys.version_info[:2] < (3, 13)
    yield Finding("python", running, None if fits else "use Python 3.11 or 3.12")
    if not is_optimised(present_build()):
        yield Finding("python", "was built without optimisation", OPTIMISE, grave=False)


def modules(standing: Standing) -> Finding:
    """Say which modules run compiled, or why none does though some are there.

    Args:
        standing: the state of the compiled modules in this process.
    """
    if standing.hindrance is not None:
        says = f"all run from their source; the compiled ones are not used: {standing.hindrance}"
        return Finding(
            "modules", says, "scripts/compile in a checkout, or install the wheel anew", grave=False
        )
    if not standing.modules:
        return Finding("modules", "all run from their source")
    folders = Counter(name.rpartition(".")[0] for name in standing.modules)
    compiled = ", ".join(f"{many} of {folder}" for folder, many in sorted(folders.items()))
    return Finding("modules", f"{len(standing.modules)} run compiled: {compiled}")


def _folders(config: Config) -> Iterator[Finding]:
    yield from _folder("data folder", config.data_dir, "PARTYLINE_DATA_DIR")
    if config.shared_dir != config.data_dir:
        yield from _folder("shared folder", config.shared_dir, "PARTYLINE_SHARED_DIR")
    if (archive := archive_of(config)) is not None:
        yield from _folder("archive folder", archive, "PARTYLINE_WAL_DIR")


def _folder(about: str, folder: Path, setting: str) -> Iterator[Finding]:
    nearest = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not nearest.is_dir():
        yield Finding(about, f"{nearest} is no folder", f"move it away, or set {setting}")
        return
    if not os.access(nearest, os.W_OK | os.X_OK):
        yield Finding(about, f"{nearest} cannot be written", f"give it to this user, or set {setting}")
        return
    if is_half_restored(folder):
        yield Finding(about, "a restore into it did not finish", "empty it, and restore again")
    else:
        yield Finding(about, str(folder) if nearest == folder else f"{folder} will be made")
    free = shutil.disk_usage(nearest).free
    cure = None if free >= FREE_MIN_BYTES else "free at least 1 GiB"
    yield Finding("disk", f"{free / (1 << 30):.1f} GiB free for the {about}", cure)


def _keys(config: Config) -> Iterator[Finding]:
    shared_dir = config.shared_dir
    folder = shared_dir / "keys"
    if not has_master(shared_dir):
        if config.database_url is None and major_of(config.data_dir / "postgres") is not None:
            yield Finding(
                "keys",
                "none, and there is a database; of one that was served none is made",
                CURE,
                grave=False,
            )
        else:
            yield Finding("keys", "made at the next start, if the database is new")
        return
    for path in (folder, *sorted(folder.iterdir())):
        open_to_others = stat.S_IMODE(path.stat().st_mode) & 0o077
        if open_to_others:
            yield Finding("keys", f"{path} can be read by others", f"chmod go-rwx {path}")
    try:
        keys = open_keys(shared_dir)
    except KeyFault as fault:
        yield Finding("keys", str(fault), "restore the folder from a backup; a new key ends every token")
    else:
        yield Finding("keys", f"Ed25519 {keys.key_id}")


def _clock() -> Iterator[Finding]:
    try:
        require_time(time.time())
    except ClockUnset as fault:
        yield Finding("clock", str(fault), "have the service start once the machine knows the time")


async def _database(config: Config) -> AsyncIterator[Finding]:
    address = config.database_url or running_address(config.data_dir)
    try:
        if address is None:
            yield _embedded(config)
            return
        async with open_database(address, pool_size=1) as database:
            async for finding in _server(database):
                yield finding
            if (wrong := await mismatch(database, config.shared_dir)) is not None:
                yield Finding("keys", wrong, CURE)
            if (archive := archive_of(config)) is not None:
                yield await doctor_backups.archive(database, archive)
            if (urls := config.nats_url or await _nats_of_keeper(config.data_dir, database)) is not None:
                async for finding in _nodes(urls, database):
                    yield finding
    except PersistenceError as fault:
        yield Finding("database", str(fault), "see PARTYLINE_DATABASE_URL and PARTYLINE_PG_BIN")


def _embedded(config: Config) -> Finding:
    home = config.data_dir / "postgres"
    if is_half_upgraded(home):
        return Finding("database", "its upgrade was interrupted", "run partyline upgrade-database again")
    account, major = account_for(home / "data"), major_of(home)
    if (says := account.cannot_run(home / "data")) is not None:
        return Finding("database", says, account.taking(home.resolve()))
    newest = find_installation(account, pg_bin=config.pg_bin, major=None)
    if major is None:
        return Finding("database", f"will be made by PostgreSQL {newest.version} ({newest.source})")
    try:
        found = find_installation(account, pg_bin=config.pg_bin, major=major)
    except NoPostgres:
        says = f"made by PostgreSQL {major}, of which there are no programs here, but of {newest.version}"
        return Finding(
            "database", says, f"partyline upgrade-database --old-bin FOLDER, with those of {major}"
        )
    says = f"embedded, PostgreSQL {found.version} ({found.source}), not running"
    cure = None if newest.major <= major else f"partyline upgrade-database moves it to {newest.version}"
    return Finding("database", says, cure, grave=False)


async def _server(database: Database) -> AsyncIterator[Finding]:
    await database.read(checks.check_server)
    yield Finding("database", "answers, and keeps what it acknowledges")
    missing = await database.read(unapplied)
    says = f"{len(missing)} to be applied at the next start" if missing else "all applied"
    yield Finding("migrations", says)
    ahead = time.time() - await database.read(checks.read_clock)
    cure = None if abs(ahead) <= CLOCK_MAX_SECONDS else "let both machines keep time by NTP"
    yield Finding("clock", f"{ahead:+.1f} s against the database", cure)


async def _nats_of_keeper(data_dir: Path, database: Database) -> tuple[str, ...] | None:
    """The addresses of the NATS of a keeper that runs with this data folder; None without a keeper."""
    url = await trio.to_thread.run_sync(kept_url, data_dir)
    if url is None:
        return None
    view = await database.read(members.read)
    return (url,) if any(one.state is not State.ALONE for one in view.members.values()) else None


async def _nodes(urls: tuple[str, ...], database: Database) -> AsyncIterator[Finding]:
    """Check what several nodes need: a NATS that lets this node in, and a clock near the database's."""
    # Imported where it is wanted, as by a node that joins others (`routes/joining.py`).
    from persistence.bridge.bus import trouble_with  # noqa: PLC0415

    trouble = await database.thread.run(trouble_with, urls)
    cure = "see PARTYLINE_NATS_URL (address, user, password, and TLS), and the server's max_payload"
    yield Finding("NATS", trouble or "lets this node in", cure if trouble else None)
    ahead = time.time() - await database.read(checks.read_clock)
    if CLOCK_MAX_MS / 1000 < abs(ahead) <= CLOCK_MAX_SECONDS:
        says = f"{ahead:+.1f} s against the database, too much for several nodes"
        yield Finding("clock", says, "let both machines keep time by NTP")


def _certificate(config: Config) -> Iterator[Finding]:
    if config.tls_bind is None or config.tls_cert is None or config.tls_key is None:
        return
    try:
        certificate = ServerCertificate(config.tls_cert, config.tls_key)
    except CertificateFault as fault:
        yield Finding("certificate", str(fault), "see PARTYLINE_TLS_CERT and PARTYLINE_TLS_KEY")
        return
    days = (certificate.expires_at_ms / 1000 - time.time()) / 86_400
    says = f"ends in {days:.0f} days" if days > 0 else "has ended"
    cure = (
        None if days >= CERTIFICATE_MIN_DAYS else "renew it; a running server takes the new files by itself"
    )
    yield Finding("certificate", says, cure, grave=days <= 0)


def _settings(config: Config) -> Iterator[Finding]:
    """Find the settings that fit each for itself, and with which no server starts."""
    # What only a server needs is imported by whoever has such a setting.
    if config.shop_provider == "manual" and not (config.shop_webhook_secret or config.console_source):
        return
    from routes.console.parts import check_source  # noqa: PLC0415
    from routes.shop.parts import check_provider, check_secrets  # noqa: PLC0415

    for about, check in (
        ("payments", check_provider),
        ("webhooks", check_secrets),
        ("console", check_source),
    ):
        try:
            check(config)
        except OperatorFault as fault:
            yield Finding(about, str(fault), "correct that setting")


def _geoip(config: Config) -> Iterator[Finding]:
    if config.geoip_db is None:
        return
    # Whoever has no such setting needs no reader of it.
    from persistence.ip.geo_file import NotUsable, open_geo_file  # noqa: PLC0415

    try:
        file = open_geo_file(config.geoip_db, Path(tempfile.gettempdir()))
    except NotUsable as fault:
        missing = "put one there with partyline-fetch-geoip FILE, or unset PARTYLINE_GEOIP_DB"
        yield Finding("GeoIP", f"no address can be located: {fault}", missing, grave=False)
        return
    days = (time.time() - file.built_at_seconds) / 86_400
    file.close()
    cure = "fetch a newer one, partyline-fetch-geoip FILE, each month" if days > GEOIP_MAX_DAYS else None
    yield Finding("GeoIP", f"a database of {days:.0f} days ago", cure, grave=False)


def _addresses(config: Config) -> Iterator[Finding]:
    seen = set[Bind]()
    for bind in (*config.bind, *(config.tls_bind or ())):
        if isinstance(bind, Descriptor):
            continue
        about = f"address {bind}"
        if bind in seen and bind.port:
            yield Finding(about, "is named twice", "see PARTYLINE_BIND and PARTYLINE_TLS_BIND")
            continue
        seen.add(bind)
        try:
            family, kind, protocol, _, where = socket.getaddrinfo(
                *bind, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            with socket.socket(family, kind, protocol) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(where)
        except OSError as fault:
            # Beside a running server the address is in use by that server, which is fine.
            if fault.errno == errno.EADDRINUSE and is_held(config.data_dir):
                yield Finding(about, "in use, as a server of this data folder runs")
            else:
                yield Finding(about, fault.strerror or str(fault), "end what uses it, or set PARTYLINE_BIND")
        else:
            yield Finding(about, "free")


def _descriptors(config: Config) -> Iterator[Finding]:
    wanted = config.max_connections
    # A start raises the soft limit as far as the hard one lets it.
    room = affordable(wanted, wanted_limit(wanted, *resource.getrlimit(resource.RLIMIT_NOFILE)))
    cure = f"ulimit -Hn {wanted + SPARE}, or lower PARTYLINE_MAX_CONNECTIONS" if room < wanted else None
    yield Finding("open files", f"enough for {room} connections, {wanted} wanted", cure, grave=False)
