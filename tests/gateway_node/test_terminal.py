"""What the programs beside the service say: no fault of who listens ends one, no text of others steers a terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from scripts.game_server.terminal import tell, web_address
from tests.contract.sources import ROOT
from tests.support.process import free_port, program
from tests.support.waiting import patience, wait_until

PROGRAM = [sys.executable, "-m", "scripts.gateway_node", "--url=http://127.0.0.1:1"]


@pytest.mark.parametrize(
    ("text", "told"),
    [("joins", "joins"), ("Zoë 🎮", "Zoë 🎮"), ("a\nb\x1b[2J\x9b\u2028", "a�b�[2J��"), ("\ud800", "�")],
)
def test_a_line_is_a_line(capfd: pytest.CaptureFixture[str], text: str, told: str):
    tell(text)
    tell(text, aside=True)
    assert capfd.readouterr() == (f"{told}\n", f"{told}\n")


@pytest.mark.parametrize(("closed", "out", "err"), [(">&-", "", "aside\n"), ("2>&-", "line\n", "")])
def test_a_line_for_a_stream_that_is_closed_goes_nowhere(tmp_path: Path, closed: str, out: str, err: str):
    """Not into the file either that has its number since."""
    script = (
        "from scripts.game_server.terminal import tell; made = open(sys.argv[1], 'w'); "
        "tell('line'); tell('aside', aside=True)"
    )
    made = tmp_path / "made"
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", f"import sys; {script}", made],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr, made.read_text()) == (0, out, err, "")


async def test_a_full_disk_or_a_reader_that_has_gone_ends_no_gateway(tmp_path: Path):
    gone, closed = os.pipe()
    os.close(gone)
    full = os.open("/dev/full", os.O_WRONLY)
    environment = {**os.environ, "PARTYLINE_GATEWAY_TOKEN": "token"}
    for out in (full, closed):
        port = free_port()
        options = [f"--port={port}", f"--state={tmp_path / 'state.json'}", "--status-seconds=0.05"]

        async def lets_in(port: int = port) -> bool:
            try:
                await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
            except OSError:
                return False
            return True

        with patience():
            async with program(
                [*PROGRAM, *options], cwd=ROOT, env=environment, stdout=out, stderr=subprocess.PIPE
            ) as process:
                await wait_until(lets_in)
                assert await lets_in()
                process.terminate()
                assert process.stderr is not None
                assert (await process.wait(), await process.stderr.receive_some()) == (0, b"")
        os.close(out)


@pytest.mark.parametrize(
    "wrong",
    [
        "", "localhost:8080", "ftp://x", "http://", "https:///a", "http://[::1", "http://x:0", "http://x:y",
        "http://play..example.org", f"http://{'a' * 64}.example.org",
    ],
)  # fmt: skip
def test_an_address_that_nothing_can_be_asked_at_is_refused(wrong: str):
    with pytest.raises(ValueError):
        web_address(wrong)


def test_an_address_has_no_slash_at_its_end():
    assert web_address("https://[::1]:8443/party/") == "https://[::1]:8443/party"
