"""What a keeper does before and beside its nodes: pauses, readiness, the end of a terminal, a start that fails."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from routes.config.config import read_config
from routes.edge.binds import Bind, Descriptor
from routes.keeper import node
from routes.keeper.listeners import Own, open_listeners
from routes.keeper.node import KeptNode, NodeFault, environment_of, settings_of
from routes.keeper.pauses import PAUSE_SECONDS, WELL_SECONDS, Pauses
from routes.keeper.readiness import Readiness, ask_ready
from routes.keeper.rolling import roll
from tests.keeper.shortage import no_more_files
from tests.support.waiting import patience, wait_until


async def test_pauses_grow_until_it_has_run_well(autojump_clock: trio.testing.MockClock) -> None:
    pauses = Pauses()
    seen = [pauses.next() for _ in range(9)]
    assert seen[:3] == [0.1, 0.2, 0.4]
    assert seen[-1] == PAUSE_SECONDS[1]
    pauses.began()
    await trio.sleep(WELL_SECONDS)
    assert [pauses.next(), pauses.next()] == [0.1, 0.2]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 200 \r\n\r\n", Readiness.READY),
        (b"HTTP/1.1 200 OK\r\n\r\n", Readiness.READY),
        (b"HTTP/1.1 503 \r\n\r\n", Readiness.UNREADY),
        (b"HTTP/1.1 2", Readiness.UNREADY),
        (b"HTT", Readiness.SILENT),
        (b"", Readiness.SILENT),
    ],
)
async def test_ready_is_who_says_so(answer: bytes, said: Readiness) -> None:
    async def answering(stream: trio.SocketStream) -> None:
        assert (await stream.receive_some()).startswith(b"GET /ready HTTP/1.1\r\n")
        for byte in answer:
            await stream.send_all(bytes([byte]))
        await stream.aclose()

    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, answering, [listener])
        assert await ask_ready(listener.socket.getsockname()[1]) is said
        nursery.cancel_scope.cancel()
    assert await ask_ready(1) is Readiness.SILENT


@pytest.fixture
def faulty_node() -> Iterator[KeptNode]:
    """One whose process ends at once, because of its settings."""
    with open_listeners([Bind("127.0.0.1", 0)], [], nodes=1, node_port=None) as listeners:
        yield KeptNode(
            1, listeners.of(0), {"PARTYLINE_NO_SUCH": "x"}, base_url="http://a", changed=lambda: None
        )


async def test_a_first_start_that_fails_is_the_keepers_fault(faulty_node: KeptNode) -> None:
    """Not started again and again: what the node has said is what an operator has to read."""
    with pytest.raises(BaseExceptionGroup) as raised, patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(faulty_node.keep, alone=True))
    assert raised.group_contains(NodeFault, match="^node 1 did not start$")


async def test_a_first_process_that_cannot_be_made_is_the_keepers_fault(faulty_node: KeptNode) -> None:
    with no_more_files(), pytest.raises(NodeFault, match=r"^node 1 cannot be started: .*Too many open files"):
        await faulty_node.keep(alone=True)


async def test_a_process_that_cannot_be_made_again_is_made_later(faulty_node: KeptNode) -> None:
    """Nothing else ends with it, and it says so each time in a line."""
    with capture_logs() as lines:

        async def has_said(event: str) -> None:
            async def is_there() -> bool:
                return any(line["event"] == event for line in lines)

            await wait_until(is_there)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(faulty_node.keep)
            await has_said("node_started")
            with no_more_files():
                await has_said("node_not_started")
            assert [line["event"] for line in lines][:3] == ["node_started", "node_ended", "node_not_started"]
            lines.clear()
            await has_said("node_started")
            nursery.cancel_scope.cancel()
        await faulty_node.stop()


async def test_what_cannot_be_loaded_is_no_reason_to_end_a_node(
    faulty_node: KeptNode, capfd: pytest.CaptureFixture[str]
) -> None:
    with capture_logs() as lines, patience():
        assert not await roll([faulty_node])
    assert [line["event"] for line in lines] == ["roll_refused"]
    assert capfd.readouterr().err.startswith("partyline: PARTYLINE_NO_SUCH: there is no such setting")


@pytest.fixture
def loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[KeptNode, Path]]:
    """A node, and the file of what happens first in each process of it."""
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(node.__file__).parents[2]}")
    with open_listeners([Bind("127.0.0.1", 0)], [], nodes=1, node_port=None) as listeners:
        yield (
            KeptNode(1, listeners.of(0), {}, base_url="http://a", changed=lambda: None),
            tmp_path / "sitecustomize.py",
        )


@pytest.mark.parametrize(
    ("code", "loads"), [("", True), ("import sys\nsys.modules['httptools'] = None\n", False)]
)
async def test_a_release_is_loaded_before_it_takes_a_place(
    loading: tuple[KeptNode, Path], code: str, loads: bool
) -> None:
    kept, first = loading
    first.write_text(code)
    with patience():
        assert await kept.rehearse() is loads


async def test_a_release_that_never_loads_is_told(
    loading: tuple[KeptNode, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, first = loading
    first.write_text("import signal\nsignal.pause()\n")
    monkeypatch.setattr(node, "STUCK_SECONDS", 0.1)
    with capture_logs() as lines, patience():
        assert not await roll([kept])
    assert [line["event"] for line in lines] == ["node_not_loaded", "roll_refused"]


@pytest.mark.parametrize(
    ("dotenv", "base_url", "level"),
    [
        ("", "http://default", "info"),
        ("PARTYLINE_BASE_URL=\n", "http://default", "info"),
        (
            "PARTYLINE_BASE_URL=https://play.example\nPARTYLINE_LOG_LEVEL=debug\n",
            "https://play.example",
            "debug",
        ),
        # What has come into the file since the keeper has begun to listen.
        (
            "PARTYLINE_TLS_BIND=0.0.0.0:1\nPARTYLINE_PROCESSES=9\nPARTYLINE_BIND=a:1\n",
            "http://default",
            "info",
        ),
        ("nonsense", "http://default", "info"),
    ],
)
def test_a_node_takes_its_settings_as_they_are_when_it_starts_but_those_of_the_keeper(
    dotenv: str, base_url: str, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(dotenv)
    settings = settings_of(
        Own("fd://3,fd://4", "", (3, 4), 9),
        processes=2,
        folder=Path("nodes/1"),
        shared_dir=Path("shared"),
        links_dir=Path("links"),
        database_url="postgresql://a",
        nats_url="nats://u:p@127.0.0.1:1",
    )
    config = read_config(environment_of(settings, "http://default"))
    assert (config.base_url, config.log_level) == (base_url, level)
    assert config.is_kept
    assert (config.processes, config.tls_bind, config.bind) == (2, None, (Descriptor(3), Descriptor(4)))
    assert (config.data_dir, config.shared_dir) == (tmp_path / "nodes/1", tmp_path / "shared")
    assert config.links_dir == tmp_path / "links"


_UNDER_TERMINAL = """
import os, signal, sys, trio
os.setsid()
os.open(sys.argv[1], os.O_RDWR)  # becomes the terminal that controls us
from routes.keeper.keeper import Orders
async def main():
    orders = Orders()
    async with trio.open_nursery() as nursery:
        await nursery.start(orders.obey)
        os.kill(os.getpid(), signal.SIGHUP)
        await orders.roll.wait()
        print("rolls", flush=True)
        with orders.serving:
            await trio.sleep_forever()
        print("stops", flush=True)
        nursery.cancel_scope.cancel()
trio.run(main)
"""


def test_the_end_of_the_terminal_stops_and_every_other_hangup_rolls() -> None:
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", _UNDER_TERMINAL, os.ttyname(theirs)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"rolls\n"
        os.close(theirs)
        os.close(ours)
        assert child.stdout.read().endswith(b"stops\n")
        assert child.wait() == 0
