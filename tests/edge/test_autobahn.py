"""The Autobahn fuzzing client against our server, where it is installed.

It needs Python 2.7, which few systems still have:

    python2.7 -m virtualenv autobahn
    autobahn/bin/pip install 'autobahntestsuite==0.8.2'
    PATH="$PWD/autobahn/bin:$PATH" scripts/test tests/edge/test_autobahn.py

What it checks of the protocol is checked without it too, case by case, in `test_frame_reader.py` and
`test_server_socket.py`.
"""

import json
import shutil
from pathlib import Path

import pytest
import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

from routes.edge.limits import Limits
from routes.edge.server_settings import ServerSettings
from tests.support.server import running

CASES = ["*"]
LEFT_OUT = ["9.*", "12.*", "13.*"]
"""Performance, and compression of large messages: minutes of work that judge no rule."""

FINE = {"OK", "INFORMATIONAL"}

ACCEPTED: dict[str, str] = {}
"""Deviations that we accept, {case: why}; there are none."""


async def _echo(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    await receive()
    await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
    while (event := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "bytes": event["bytes"], "text": event["text"]})


WSTEST = shutil.which("wstest")


@pytest.mark.slow
@pytest.mark.skipif(
    WSTEST is None, reason="wstest is not installed; it needs Python 2.7: see test_autobahn.py"
)
async def test_the_fuzzing_client_finds_nothing(tmp_path: Path) -> None:
    assert WSTEST is not None
    settings = ServerSettings(
        max_message_bytes=20_000_000, max_per_address=None, limits=Limits(enabled=False)
    )
    async with running(_echo, settings=settings) as base_url:
        specification = {
            "outdir": str(tmp_path / "report"),
            "servers": [{"agent": "lean", "url": base_url.replace("http", "ws") + "/"}],
            "cases": CASES,
            "exclude-cases": LEFT_OUT,
            "exclude-agent-cases": {},
        }
        (tmp_path / "client.json").write_text(json.dumps(specification))
        await trio.run_process([WSTEST, "-m", "fuzzingclient", "-s", str(tmp_path / "client.json")])
    report = json.loads((tmp_path / "report" / "index.json").read_text())["lean"]
    assert report, "no case was run"
    verdicts = {
        case: (result["behavior"], result["behaviorClose"])
        for case, result in report.items()
        if not {result["behavior"], result["behaviorClose"]} <= FINE
    }
    assert verdicts.keys() == ACCEPTED.keys(), verdicts
