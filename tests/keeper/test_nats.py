"""The NATS server of a keeper, as it is: whom it lets in, who can read its password, and that it comes back."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio.testing
from structlog.testing import capture_logs

from persistence.bridge.bus import trouble_with
from persistence.bridge.thread import AsyncioThread
from routes.keeper import nats
from routes.keeper.nats import NatsMissing, find_program, kept_nats, nats_folder
from tests.keeper.shortage import no_more_files
from tests.support.process import children_of
from tests.support.waiting import wait_until


def _server() -> set[int]:
    """The process of the server: our child with its name."""
    return {
        pid
        for pid, _ in children_of(os.getpid())
        if Path(f"/proc/{pid}/comm").read_text().strip() == "nats-server"
    }


def _shown(pid: int) -> tuple[Path, ...]:
    return Path(f"/proc/{pid}/cmdline"), Path(f"/proc/{pid}/environ")


@asynccontextmanager
async def _bridge() -> AsyncIterator[AsyncioThread]:
    thread = AsyncioThread("test")
    thread.start()
    try:
        yield thread
    finally:
        await thread.close()


async def test_it_lets_its_nodes_in_and_comes_back_where_it_was(tmp_path: Path) -> None:
    folder, before = nats_folder(tmp_path), _server()
    async with kept_nats(folder) as url, _bridge() as thread:
        assert await thread.run(trouble_with, (url,)) is None
        assert await thread.run(trouble_with, (url.replace("partyline:", "partyline:x"),)) is not None
        password = url.split(":")[2].split("@")[0]
        (pid,) = _server() - before
        shown = (*_shown(pid), folder / "nats.log")
        assert not [path for path in shown if password in path.read_text()]
        assert (folder / "url").read_text() == url
        for path in (folder, *folder.iterdir()):
            assert path.stat().st_mode & 0o077 == 0, path

        os.kill(pid, signal.SIGKILL)

        async def is_back() -> bool:
            return bool(_server() - before - {pid}) and await thread.run(trouble_with, (url,)) is None

        await wait_until(is_back)
    assert _server() == before
    assert not (folder / "url").exists()


async def test_one_that_hangs_as_it_starts_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the nodes would stay without NATS until somebody looked."""
    hangs, program = tmp_path / "hangs", tmp_path / "nats-server"
    program.write_text(f'#!/bin/sh\n[ ! -e {hangs} ] || exec sleep 600\nexec {find_program()} "$@"\n')
    program.chmod(0o700)
    monkeypatch.setattr(nats, "find_program", lambda: program)
    before = _server()
    with capture_logs() as lines:

        async def has_failed() -> bool:
            return any(line["event"] == "nats_not_started" for line in lines)

        async with kept_nats(nats_folder(tmp_path)) as url, _bridge() as thread:
            (pid,) = _server() - before
            hangs.touch()
            with monkeypatch.context() as quick:
                quick.setattr(nats, "START_SECONDS", 0.1)
                os.kill(pid, signal.SIGKILL)
                await wait_until(has_failed)
                hangs.unlink()

            async def is_back() -> bool:
                return await thread.run(trouble_with, (url,)) is None

            await wait_until(is_back)
    assert _server() == before


async def test_where_it_cannot_be_started_again_it_is_tried_later(tmp_path: Path) -> None:
    before = _server()
    with capture_logs() as lines:

        async def has_failed() -> bool:
            return any(line["event"] == "nats_not_started" for line in lines)

        async with kept_nats(nats_folder(tmp_path)) as url, _bridge() as thread:
            (pid,) = _server() - before
            await trio.testing.wait_all_tasks_blocked()
            with no_more_files():
                os.kill(pid, signal.SIGKILL)
                await wait_until(has_failed)

            async def is_back() -> bool:
                return bool(_server() - before - {pid}) and await thread.run(trouble_with, (url,)) is None

            await wait_until(is_back)
    assert [line["event"] for line in lines].count("nats_ended") == 1
    assert _server() == before


async def test_a_first_start_that_fails_is_said_in_one_line(tmp_path: Path) -> None:
    before = _server()
    (nats_folder(tmp_path) / "server.new").mkdir(parents=True)
    with pytest.raises(NatsMissing, match=r"^nats-server cannot be started: .*server\.new"):
        async with kept_nats(nats_folder(tmp_path)):
            pass
    assert _server() == before


def test_without_the_program_one_line_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NatsMissing, match=r"pip install 'partyline\[nodes\]'"):
        find_program()
    (tmp_path / "nats-server").touch(mode=0o700)
    assert find_program() == tmp_path / "nats-server"
