"""`scripts/loadtest`: many users talk, come and go, or play on a running server; prints what they saw.

Measure your own server only: it is filled with users and messages, and its own key signs their tokens.
"""

import argparse
import ipaddress
import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import trio

from scripts.load import server_process, tokens
from scripts.load.clients.http import RequestFailed
from scripts.load.failures import first
from scripts.load.interruption import Interruption, interruptible
from scripts.load.plan import FLEETS, BadPlan, Plan, check, check_room, user_id, user_name
from scripts.load.report import Memory, Report, progress_line, report, table
from scripts.load.run import Interval, Timing, carry_out
from scripts.load.stage import prepare
from scripts.load.workers import WorkerFailed, hire

MIN_SECONDS, MAX_SECONDS = 0.1, 86_400
_NUMBERS: tuple[tuple[str, int | float | None, str], ...] = (
    ("--users", 100, "how many users (default 100)"),
    ("--conversations", 50, "how many conversations (default 50)"),
    ("--members", 2, "members of each, 2 to 1024 (default 2)"),
    ("--friends", 50, "friends of each user (default 50)"),
    ("--senders", None, "the first N users send (default all)"),
    ("--live", None, "the first N users subscribe to their conversations (default all)"),
    ("--window", 64, "closed loop: N messages in flight (default 64)"),
    ("--rate", 0.0, "open loop instead: N messages/s whatever happens"),
    ("--duration", 10.0, "measured seconds (default 10)"),
    ("--text-bytes", 100, "length of a message, 60 to 4000 (default 100)"),
    ("--processes", 1, "worker processes (default 1)"),
    ("--seed", 1, "of the random choices (default 1)"),
    ("--pid", None, "the server's process (default: who listens, when it is on this machine)"),
)
_LIMITED = "The server limits rates; for a load test start it with PARTYLINE_RATE_LIMITS=off."


def parser() -> argparse.ArgumentParser:
    """All options."""
    it = argparse.ArgumentParser(
        prog="scripts/loadtest",
        description="Many users in many conversations on a running server of your own.",
        epilog="Start the server with PARTYLINE_RATE_LIMITS=off, or the limits are what is measured. Ctrl-C ends it "
        "with a report of what was measured so far. Latencies count from when a message was due (--rate) or sent "
        "(--window). Exit status: 0, all that was acknowledged arrived once and in order; 1, it did not, or a socket "
        "was lost, also one that could be opened again, or nothing was measured; 2, it could not be carried out; "
        "130, it was interrupted. What the server refused (429, 503) was not acknowledged: it is counted under errors, "
        "and does not change it.",
    )
    it.add_argument("--url", default="http://127.0.0.1:8080", help="the server (default %(default)s)")
    for flag, default, what in _NUMBERS:
        it.add_argument(
            flag, type=float if isinstance(default, float) else int, default=default, metavar="N", help=what
        )
    it.add_argument(
        "--workload",
        choices=("chat", "friends", "parties", *FLEETS),
        default="chat",
        help="messages; friends who come and go (--users, --friends, --rate changes/s); "
        "parties that choose and get ready (--conversations parties of --members); commands for agents on their "
        "streams, and their statuses (--users agents in --conversations networks, --rate or --window)",
    )
    it.add_argument(
        "--mode",
        choices=("delta", "snapshot"),
        default="delta",
        help="how parties are watched (default delta)",
    )
    it.add_argument(
        "--warmup",
        type=float,
        metavar="N",
        help="seconds before measuring (default 1; friends 15, until the first are back)",
    )
    it.add_argument("--prefix", default="load", help="of the users' names (default load)")
    it.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    how = it.add_argument_group("tokens", "by default signed with the key in the server's data directory")
    default_dir = Path(os.environ.get("PARTYLINE_DATA_DIR", ".partyline"))
    how.add_argument("--data-dir", type=Path, default=default_dir, help="of the server (default %(default)s)")
    how.add_argument("--jwt-secret", help="an HS256 secret that the server accepts")
    how.add_argument("--jwt-issuer", help="the `iss` that belongs to it")
    how.add_argument("--jwt-audience", help="the `aud` that belongs to it")
    how.add_argument("--token-command", help="a command that prints a token; {id} and {name} are filled in")
    it.add_argument("--i-own-this-server", action="store_true", help="allow a server on another machine")
    return it


def resolve(url: str, allowed: bool) -> tuple[str, tuple[str, int]]:
    """The Host field for a URL, and the (IP address, port) to connect to.

    Raises:
        BadPlan: the URL is not one of cleartext HTTP, its host is not found, or is another machine and that is not
            allowed.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 80
    except ValueError as error:
        raise BadPlan(f"{url} is not http://host:port: {error}") from error
    if parts.scheme != "http" or not host or parts.path not in ("", "/"):
        raise BadPlan(f"{url} is not http://host:port (measure behind a TLS proxy, not through it)")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise BadPlan(f"{host} has no address: {error}") from error
    address = str(found[0][4][0])
    if not ipaddress.ip_address(address.partition("%")[0]).is_loopback and not allowed:
        raise BadPlan(f"{host} is another machine; say --i-own-this-server when it is yours")
    return parts.netloc, (address, port)


def plan_of(options: argparse.Namespace) -> Plan:
    """The plan that the options describe; raises `BadPlan`."""
    host, address = resolve(options.url, options.i_own_this_server)
    run = os.urandom(4).hex()
    plan = Plan(
        host=host,
        address=address,
        traffic=options.workload,
        friends=options.friends,
        mode=options.mode,
        users=options.users,
        conversations=options.conversations,
        members=options.members,
        senders=options.users if options.senders is None else options.senders,
        live=options.users if options.live is None else options.live,
        window=options.window,
        rate=options.rate,
        text_bytes=options.text_bytes,
        seed=options.seed,
        run=run,
        reopen=True,
        # Agents are made by each run, and their networks' owners with them.
        prefix=f"{options.prefix}-{run}-" if options.workload in FLEETS else options.prefix,
        processes=options.processes,
    )
    check(plan)
    check_room(plan, resource.getrlimit(resource.RLIMIT_NOFILE)[1], server_process.local_ports())
    if not MIN_SECONDS <= options.duration <= MAX_SECONDS or not 0 <= warmup_of(options) <= MAX_SECONDS:
        raise BadPlan(f"--duration must be {MIN_SECONDS} seconds to a day, --warmup none to a day")
    if options.pid is not None and server_process.memory_bytes(options.pid) is None:
        raise BadPlan(f"--pid {options.pid}: there is no such process")
    return plan


def warmup_of(options: argparse.Namespace) -> float:
    """How many seconds the load runs before it is measured."""
    default = 15.0 if options.workload == "friends" else 1.0
    return default if options.warmup is None else float(options.warmup)


def tokens_of(plan: Plan, options: argparse.Namespace) -> dict[int, str]:
    """A token for each user; raises `NoTokens`."""
    if options.token_command:
        sign = tokens.by_command(options.token_command)
    elif options.jwt_secret:
        sign = tokens.by_secret(options.jwt_secret, options.jwt_issuer, options.jwt_audience)
    else:
        sign = tokens.by_own_key(options.data_dir)
    now_seconds = int(time.time())
    return {user: sign(user_id(plan, user), user_name(plan, user), now_seconds) for user in range(plan.users)}


def say(line: str) -> None:
    """Print progress to standard error, so that standard output has the result alone."""
    print(line, file=sys.stderr, flush=True)


def making(what: str, made: int, whole: int) -> None:
    """Print the progress of the preparation, four lines at most."""
    if made == whole or made % max(1, -(-whole // 4)) == 0:
        say(f"       {made:,} of {whole:,} {what}")


async def run(plan: Plan, options: argparse.Namespace) -> int:
    """Carry out the whole run; returns the exit status."""
    result: Report | None = None
    async with interruptible() as interruption:
        result = await measured(plan, options, interruption)
    if result is not None:
        print(msgspec.json.encode(result).decode() if options.json else table(result))
        if "RATE_LIMITED" in result.errors:
            say(_LIMITED)
    if interruption.signal:
        done = "reported is what was measured until then" if result else "nothing was measured"
        say(f"scripts/loadtest: interrupted; {done}")
        return 128 + interruption.signal
    return 0 if result is not None and result.well else 1


async def measured(plan: Plan, options: argparse.Namespace, interruption: Interruption) -> Report:
    """Prepare, measure and judge.

    Raises:
        WorkerFailed, RequestFailed, OSError: the run could not be carried out. Cancellation leaves what was made.
    """
    pid = options.pid or (
        server_process.listener(plan.address[1]) if plan.address[0] in ("127.0.0.1", "::1") else None
    )
    bearer = tokens_of(plan, options)
    conversations = await prepare(plan, bearer, making)
    before_bytes = server_process.memory_bytes(pid) if pid else None
    seconds = 0.0

    def tick(seen: Interval) -> None:
        nonlocal seconds
        interruption.measuring()
        seconds += seen.seconds
        line = progress_line(plan.traffic, round(seconds), seen)
        say(line + ("  (warm-up)" if seconds < warmup_of(options) + 0.5 else ""))

    timing = Timing(warmup_seconds=warmup_of(options), interval_seconds=options.duration)
    async with hire(plan.processes) as workers:
        say(f"       opening {plan.clients:,} sockets")
        outcome = await carry_out(
            workers,
            plan,
            timing,
            tokens=bearer,
            conversations=conversations,
            tick=tick,
            cpu_ns=lambda: server_process.cpu_ns(pid) if pid else 0,
            enough=interruption.enough,
        )
        after_bytes = server_process.memory_bytes(pid) if pid else None
    memory = Memory(pid, before_bytes, after_bytes) if pid and before_bytes and after_bytes else None
    return report(plan, outcome, memory)


def main() -> int:
    """Run the command line; `--help` says what the exit status means."""
    options = parser().parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    failures: list[BaseException] = []
    status = 1
    try:
        status = trio.run(run, plan_of(options), options)
    except* (BadPlan, tokens.NoTokens, RequestFailed, WorkerFailed, OSError) as group:
        failures.append(first(group))
        status = 2
    except* KeyboardInterrupt:
        status = 128 + signal.SIGINT
    if failures:
        say(f"scripts/loadtest: {failures[0]}")
        if "RATE_LIMITED" in str(failures[0]):
            say(_LIMITED)
    return status


if __name__ == "__main__":
    sys.exit(main())
