"""`scripts/siege`: the worst that a stranger and one signed-in user can do, and what everybody else notices of it.

For a server of your own, with its limits as they are: the limits are part of what is shown.
"""

import argparse
import ipaddress
import os
import signal
import sys
import time
import uuid
from pathlib import Path

import trio

from scripts.hostile.bystanders import Neighbours, Seen, Watch, watching
from scripts.hostile.scene import ACQUAINTANCES, BYSTANDERS, prepare
from scripts.hostile.strangers import hostile_requests
from scripts.hostile.user import Offender
from scripts.hostile.wire import Line, Lost
from scripts.load import server_process, tokens
from scripts.load.__main__ import resolve
from scripts.load.failures import first
from scripts.load.plan import BadPlan

MAX_PROBE_MS = 50.0
MAX_SLOWDOWN = 10.0
MAX_GROWTH_BYTES = 200e6
QUIET_SECONDS = 10.0
AFTER_SECONDS = 75.0  # who takes nothing is closed after 60
MAX_SECONDS = 600.0


def parser() -> argparse.ArgumentParser:
    """All options."""
    it = argparse.ArgumentParser(
        prog="scripts/siege",
        description="The worst that a stranger and one user can do to a running server of your own.",
        epilog="It takes a minute and a half longer than --seconds. Exit status 0: nobody was stopped for more than 50 "
        "ms by a stranger's request, no request of others failed, the 99th percentile of other users stayed below ten "
        "times its own, and memory came back to within 200 MB (of a server on this machine); 1: one of these does not "
        "hold; 2: it could not be carried out; 130: it was interrupted, after what it has printed.",
    )
    it.add_argument("--url", default="http://127.0.0.1:8080", help="the server (default %(default)s)")
    default_dir = Path(os.environ.get("PARTYLINE_DATA_DIR", ".partyline"))
    it.add_argument("--data-dir", type=Path, default=default_dir, help="of the server (default %(default)s)")
    it.add_argument("--seconds", type=float, default=60.0, help="how long the user rages (default 60)")
    it.add_argument("--i-own-this-server", action="store_true", help="allow a server on another machine")
    return it


async def besiege(address: tuple[str, int], host: str, options: argparse.Namespace) -> bool:
    """The whole siege; returns whether everything stayed within its bounds."""
    ids = [str(uuid.uuid4()) for _ in range(1 + 2 * BYSTANDERS + ACQUAINTANCES)]
    scene = await prepare(address, host, tokens.by_own_key(options.data_dir), ids, int(time.time()))
    neighbours = Neighbours(
        address=address, host=host, tokens=scene.tokens, conversations=scene.conversations
    )
    with watching(neighbours) as watch:
        await trio.sleep(2)
        watch.look()
        await trio.sleep(QUIET_SECONDS)
        quiet = watch.look()
        say(f"at rest            {_line(quiet)}")
        if not quiet.answered:
            raise Lost("nobody was answered at rest, so there is nothing to compare with")
        calm = await _strangers(address, host, watch)
        offender = Offender(
            address,
            host,
            scene.offender_token,
            conversation=scene.offender_conversation,
            others=scene.acquaintances,
            server=scene.server,
        )
        here = ipaddress.ip_address(address[0].partition("%")[0]).is_loopback
        pid = server_process.listener(address[1]) if here else None
        return await _user(offender, watch, quiet, pid=pid, options=options) and calm


async def _strangers(address: tuple[str, int], host: str, watch: Watch) -> bool:
    """Each hostile request once; what the probe noticed of the worst ones."""
    worst: list[tuple[float, str]] = []
    failed = 0
    for what, data in hostile_requests(host).items():
        with Line(address, host) as line:
            try:
                status = str((await line.send(data))[0])
            except Lost as error:
                status = str(error)
        await trio.sleep(0.05)
        seen = watch.look()
        failed += seen.failed
        worst.append((seen.probe_worst_ms, f"{what}: {status}"))
    worst.sort(reverse=True)
    say(f"strangers          {len(worst)} requests of up to 256 KB; the longest that /health waited:")
    for waited_ms, what in worst[:5]:
        say(f"                   {waited_ms:7.1f} ms  {what}")
    if failed:
        say(f"                   {failed:,} requests of others failed")
    return worst[0][0] <= MAX_PROBE_MS and not failed


async def _user(
    offender: Offender, watch: Watch, quiet: Seen, *, pid: int | None, options: argparse.Namespace
) -> bool:
    """One user's worst minute, and what is left of it."""
    before = _state(pid, options.data_dir)
    watch.look()
    with trio.move_on_after(options.seconds):
        await offender.rage()
    during, most = watch.look(), _state(pid, options.data_dir)
    say(f"one user's worst   {_line(during)}")
    for what, count in sorted(offender.answers.items()):
        say(f"                   {count:7,} × {what}")
    await trio.sleep(AFTER_SECONDS)
    after, later = _state(pid, options.data_dir), watch.look()
    say(f"afterwards         {_line(later)}")
    memory = f"{before[0]:,.0f} MB before, {most[0]:,.0f} at the end of it, {after[0]:,.0f} afterwards"
    say(f"memory             {memory if before[0] else 'cannot be seen from here, and is not judged'}")
    say(
        f"data folder        {before[1]:,.0f} MB before, {most[1]:,.0f} at the end of it, {after[1]:,.0f} afterwards"
    )
    slowed = (during.users_p99_ms or 1e9) / (quiet.users_p99_ms or 1e9)
    failed, gone = during.failed + later.failed, bool(before[0] and not after[0])
    say(f"slowdown           {slowed:.1f} × the 99th percentile of users at rest; {failed:,} requests failed")
    return (
        not failed and not gone and slowed < MAX_SLOWDOWN and (after[0] - before[0]) * 1e6 < MAX_GROWTH_BYTES
    )


def _state(pid: int | None, folder: Path) -> tuple[float, float]:
    """Memory of the server and size of its data folder, MB."""
    memory = (server_process.memory_bytes(pid) if pid else None) or 0
    size = 0
    for path in folder.rglob("*"):
        try:
            size += path.lstat().st_blocks * 512
        except OSError:
            continue
    return memory / 1e6, size / 1e6


def _line(seen: Seen) -> str:
    return (
        f"/health p99 {seen.probe_p99_ms:.1f} ms, worst {seen.probe_worst_ms:.1f}; users p50 "
        f"{seen.users_p50_ms or 0:.1f}, p99 {seen.users_p99_ms or 0:.1f} ms ({seen.answered:,} answered)"
    )


def say(line: str) -> None:
    """One line of the result."""
    print(line, flush=True)


def _target(options: argparse.Namespace) -> tuple[tuple[str, int], str]:
    """Address and Host field of the server; raises `BadPlan`."""
    if not 0 < options.seconds <= MAX_SECONDS:
        raise BadPlan(f"--seconds must be above 0 and at most {MAX_SECONDS:.0f}")
    host, address = resolve(options.url, options.i_own_this_server)
    return address, host


def main() -> int:
    """Run the command line."""
    options = parser().parse_args()
    failures: list[BaseException] = []
    status = 1
    try:
        status = 0 if trio.run(besiege, *_target(options), options) else 1
    except* (BadPlan, tokens.NoTokens, Lost, OSError) as group:
        failures.append(first(group))
        status = 2
    except* KeyboardInterrupt:
        status = 128 + signal.SIGINT
        print("scripts/siege: interrupted", file=sys.stderr)
    if failures:
        print(f"scripts/siege: {failures[0]}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
