"""The load test where something goes wrong: what was not measured is said, and nothing is hidden."""

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable

import msgspec
import pytest
import trio

from scripts.load.__main__ import parser, plan_of
from scripts.load.clients.exchange import Verdict
from scripts.load.plan import BadPlan, Plan, check, check_room
from scripts.load.report import Report, report, table
from scripts.load.run import Interval, Outcome
from scripts.load.tokens import NoTokens, by_command
from tests.contract.sources import ROOT
from tests.support.process import ServerProcess, free_port, server_process
from tests.support.waiting import patience

MEASURING = b"   2 s "


def a_report(seen: Interval, lost: int = 0, reconnects: int = 0, **fields) -> Report:
    plan = Plan(host="127.0.0.1", address=("127.0.0.1", 1), **fields)
    verdict = Verdict(subscriptions=8, expected=32)
    return report(plan, Outcome(8, [seen], verdict, lost, reconnects), None)


class TestVerdict:
    def test_nothing_acknowledged_is_not_well(self):
        result = a_report(Interval())
        assert (result.exact, result.well, result.messages_per_second) == (True, False, 0.0)
        assert "nothing was measured" in table(result)

    def test_lost_sockets_are_not_well(self):
        result = a_report(Interval(seconds=1.0, acknowledged=5, unsent=7), lost=3)
        assert (result.well, result.lost_sockets) == (False, 3)
        assert "lost          3 of 8 sockets" in table(result)
        assert "unsent        7: their sockets were lost" in table(result)

    def test_sockets_that_were_opened_again_are_told_and_not_well(self):
        result = a_report(Interval(seconds=1.0, acknowledged=5), reconnects=3)
        assert (result.well, result.lost_sockets, result.reconnects) == (False, 0, 3)
        assert "reconnects    3: " in table(result)

    def test_refusals_are_told_and_well(self):
        result = a_report(Interval(seconds=1.0, acknowledged=5, errors=Counter(RATE_LIMITED=9)))
        assert result.well
        assert "errors        RATE_LIMITED 9" in table(result)

    @pytest.mark.parametrize(("cores", "told"), [(0.5, False), (1.9, True)])
    def test_a_load_test_that_is_the_bottleneck_is_told(self, cores: float, told: bool):
        seen = Interval(seconds=2.0, acknowledged=5, load_cpu_ns=int(cores * 2e9))
        result = a_report(seen, processes=2)
        assert (result.load_cores, result.well) == (cores, True)
        assert ("may be what was measured" in table(result)) == told


class TestNumbers:
    @pytest.mark.parametrize(
        "words",
        [
            "--url http://[::1",
            "--url http://127.0.0.1:99999",
            f"--url http://{'a' * 70}.b",
            "--duration 0.0001",
            "--duration nan",
            "--rate nan",
            "--rate inf",
            "--conversations 1000000000",
            "--users 60000 --members 2",
            "--pid 2147483646",
        ],
    )
    def test_what_cannot_be_done_is_one_line(self, words: str):
        with pytest.raises(BadPlan):
            plan_of(parser().parse_args(words.split()))

    def test_a_rate_may_be_a_fraction(self):
        assert plan_of(parser().parse_args(["--rate", "0.5"])).rate == 0.5

    def test_more_sockets_than_files_are_told_before(self):
        plan = Plan(host="h", address=("127.0.0.1", 1), users=2000, live=2000, processes=2)
        check(plan)
        check_room(plan, 1200, 2000)
        with pytest.raises(BadPlan, match=r"each of 2 processes needs 1,128 files, and may open 1,000"):
            check_room(plan, 1000, 2000)
        with pytest.raises(BadPlan, match=r"1,999 ports"):
            check_room(plan, 1200, 1999)

    @pytest.mark.parametrize("command", ["'open", "", "/there/is/no/such/program {id}"])
    def test_a_command_that_prints_no_token(self, command: str):
        with pytest.raises(NoTokens):
            by_command(command)("id", "name", 0)


async def _loaded(
    server: ServerProcess, words: str, then: Callable[[trio.Process], Awaitable[object]]
) -> tuple[int, str, str]:
    """Exit status, result and progress of a load test to which something happens while it measures."""
    program = [sys.executable, "-m", "scripts.load", "--url", server.url, "--data-dir", str(server.data_dir)]
    command = [*program, "--users", "8", "--conversations", "4", "--warmup", "0.5", "--json", *words.split()]
    result, said = bytearray(), bytearray()

    async def read(stream: trio.abc.ReceiveStream | None, into: bytearray) -> None:
        assert stream is not None
        async for piece in stream:
            into.extend(piece)

    with patience():
        process = await trio.lowlevel.open_process(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(read, process.stdout, result)
                nursery.start_soon(read, process.stderr, said)
                while MEASURING not in said and process.returncode is None:
                    process.poll()
                    await trio.sleep(0.02)
                await then(process)
                await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
    return await process.wait(), result.decode(), said.decode()


@pytest.mark.drill
@pytest.mark.parametrize("words", ["--rate 50", "--window 4", "--workload commands --rate 50"])
async def test_a_server_that_dies_is_no_success(words: str):
    async with server_process(rate_limits="off") as server:

        async def die(_process: trio.Process) -> None:
            await server.kill()

        status, result, said = await _loaded(server, f"--duration 3 {words}", die)
    assert status == 1, said
    assert "Traceback" not in said
    told = msgspec.json.decode(result, type=Report)
    assert (told.well, told.lost_sockets, told.server_cores) == (False, told.sockets, None)
    assert "commands" in words or told.unsent or not told.rate, "what was due and not sent is counted"


@pytest.mark.drill
async def test_an_interrupted_run_reports_what_it_has():
    async with server_process(rate_limits="off") as server:

        async def interrupt(process: trio.Process) -> None:
            process.send_signal(signal.SIGINT)

        status, result, said = await _loaded(server, "--duration 3600 --rate 50", interrupt)
    assert status == 128 + signal.SIGINT, said
    assert "Traceback" not in said
    told = msgspec.json.decode(result, type=Report)
    assert (told.well, told.messages > 0) == (True, True)
    assert 0 < told.seconds < 3600


def test_a_server_that_is_away_is_one_line():
    command = [sys.executable, "-m", "scripts.load", "--url", f"http://127.0.0.1:{free_port()}"]
    done = subprocess.run(
        [*command, "--jwt-secret", "s" * 32], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Connection refused" in done.stderr
    assert "Traceback" not in done.stderr
