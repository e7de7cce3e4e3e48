"""However the block of a client ends, it closes, and what ended it comes out as it is; answers that lead elsewhere."""

import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from threading import Event, Thread

import anyio
import pytest

from partyline.client import Partyline, Problem, Unreachable, blocking
from tests.client.play import http, saying
from tests.contract.sources import ROOT
from tests.support.process import program
from tests.support.waiting import PATIENCE_SECONDS, patience

NOWHERE = "http://127.0.0.1:1"

ENDS = [ValueError("mine"), SystemExit(3), KeyboardInterrupt()]

WATCHING = """
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from threading import Event, Thread
from partyline.client.blocking import Partyline

try:
    with Partyline(sys.argv[1], token="x") as partyline, partyline.live.subscribe("inbox") as shown:
        print("watching", flush=True)
        next(shown)
except KeyboardInterrupt:
    print("ended by hand", flush=True)
    sys.exit(7)
"""


@pytest.mark.parametrize("end", ENDS, ids=repr)
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_what_ends_its_block_comes_out_as_it_is(end: BaseException, backend: str):
    async def work() -> None:
        async with Partyline(NOWHERE, token="x") as client, client.live.subscribe("inbox"):
            raise end

    with pytest.raises(type(end)) as ended:
        anyio.run(work, backend=backend)
    assert ended.value is end


@pytest.mark.parametrize("end", ENDS, ids=repr)
def test_what_ends_the_block_of_the_blocking_client_comes_out_as_it_is(end: BaseException):
    with (
        pytest.raises(type(end)) as ended,
        blocking.Partyline(NOWHERE, token="x") as client,
        client.live.subscribe("inbox"),
    ):
        raise end
    assert ended.value is end


async def test_a_program_that_waits_is_ended_by_hand():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with patience():
        async with program([sys.executable, "-c", WATCHING, NOWHERE], cwd=ROOT, **pipes) as process:
            assert process.stdout is not None and process.stderr is not None
            said = b""
            # A program that buffers nothing writes the end of its line apart.
            while not said.endswith(b"\n") and (more := await process.stdout.receive_some()):
                said += more
            process.send_signal(signal.SIGINT)
            while more := await process.stdout.receive_some():
                said += more
            assert (said, await process.stderr.receive_some()) == (b"watching\nended by hand\n", b"")
            assert await process.wait() == 7


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_what_lies_elsewhere_is_no_success(status: int):
    there = "https://files.example.net/pack.zip"
    with patience():
        async with (
            saying(lambda _: http(status, b"", f"Location: {there}")) as url,
            Partyline(url, token="x") as client,
        ):
            with pytest.raises(Problem, match=there) as told:
                await client.rest.get("/v1/versions/pack", into=bytes)
            assert (told.value.status, told.value.code) == (status, "ELSEWHERE")
            assert told.value.meta == {"location": there}
            with pytest.raises(Problem):
                await client.rest.post("/v1/social/chat/conversations", {})


async def test_what_lies_nowhere_has_no_address():
    with patience():
        async with saying(lambda _: http(300, b"")) as url, Partyline(url, token="x") as client:
            with pytest.raises(Problem, match="nowhere") as told:
                await client.rest.get("/v1/versions/pack")
            assert (told.value.code, told.value.meta) == ("ELSEWHERE", {})


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_who_waits_in_another_task_hears_that_the_client_was_closed(backend: str):
    told: list[Unreachable] = []

    async def wait(what: Callable[[], Awaitable[object]]) -> None:
        with pytest.raises(Unreachable, match="closed") as ended:
            await what()
        told.append(ended.value)

    async def work() -> None:
        with anyio.fail_after(PATIENCE_SECONDS):
            async with anyio.create_task_group() as tasks, Partyline(NOWHERE, token="x") as client:
                tasks.start_soon(wait, partial(client.live.send, "conversation:1", {"content": "hello"}))
                tasks.start_soon(wait, partial(_first, client))
                tasks.start_soon(wait, partial(client.rest.get, "/v1/auth/verify"))
                await anyio.wait_all_tasks_blocked()
            await wait(partial(client.live.send, "conversation:1", {"content": "hello"}))
            assert client.live.state == "closed"

    anyio.run(work, backend=backend)
    assert [(one.is_temporary, one.is_outcome_unknown) for one in told] == 4 * [(False, True)]


async def _first(client: Partyline) -> object:
    async with client.live.subscribe("inbox") as shown:
        return await anext(shown)


def test_the_blocking_client_ends_while_another_thread_waits():
    told: list[BaseException] = []
    begun = Event()

    def wait(client: blocking.Partyline) -> None:
        try:
            with client.live.subscribe("inbox") as shown:
                begun.set()
                next(shown)
        except Unreachable as ended:
            told.append(ended)

    def work() -> None:
        with blocking.Partyline(NOWHERE, token="x") as client:
            threads.append(Thread(target=wait, args=(client,), daemon=True))
            threads[0].start()
            assert begun.wait(PATIENCE_SECONDS)

    threads: list[Thread] = []
    closing = Thread(target=work, daemon=True)
    closing.start()
    closing.join(PATIENCE_SECONDS)
    assert not closing.is_alive(), "it waits for the other thread"
    threads[0].join(PATIENCE_SECONDS)
    assert [str(one) for one in told] == ["the client was closed"]
