"""A second signal to stop ends the process at once, however far it has come with the first."""

import os
import signal

import pytest
import trio

from tests.support.process import ServerProcess, living, reachable_directory, started
from tests.support.waiting import patience, wait_until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_ends_a_server_whose_database_does_not_stop(number: signal.Signals):
    with patience(), reachable_directory() as folder:
        async with started(ServerProcess(folder)) as server:
            assert server.process is not None
            databases, pid = set(server.databases), server.process.pid
            for database, _ in databases:
                os.kill(database, signal.SIGSTOP)
            try:
                server.process.send_signal(signal.SIGTERM)
                await wait_until(lambda: _is_past_serving(pid))
                server.process.send_signal(number)
                assert await server.process.wait() == 130
            finally:
                for database, _ in living(databases):
                    os.kill(database, signal.SIGCONT)
        await wait_until(lambda: _are_gone(databases))


async def _is_past_serving(pid: int) -> bool:
    """Only who serves listens for SIGHUP."""
    status = await trio.Path(f"/proc/{pid}/status").read_text()
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return not caught & (1 << (signal.SIGHUP - 1))


async def _are_gone(databases: set[tuple[int, str]]) -> bool:
    return not living(databases)
