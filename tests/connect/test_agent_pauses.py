"""The agent waits as long as it says before it opens its stream again."""

import re
from itertools import pairwise
from pathlib import Path

import trio
import trio.testing

from scripts.game_server.agent import Agent, Plan

NOTHING_RUNS = b'{"items":[],"nextCursor":null,"hasMore":false}'
SETTLED_SECONDS = 0.02
"""Of real time, in which everything on the loopback has been answered."""


async def answer(stream: trio.SocketStream) -> None:
    """One request to a service that says what runs, and has no room for streams."""
    async with stream:
        asked = await stream.receive_some(65_536)
        status, body = (b"200 OK", NOTHING_RUNS) if b"/commands?" in asked else (b"503 Full", b"")
        await stream.send_all(
            b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b"
            % (status, len(body), body)
        )


async def test_it_waits_as_long_as_it_says(tmp_path: Path, mock_clock: trio.testing.MockClock) -> None:
    mock_clock.autojump_threshold = SETTLED_SECONDS
    (tmp_path / "agent.json").write_text('{"server_id":"s","server_secret":"x"}')
    (tmp_path / "agent.json").chmod(0o600)
    said: list[tuple[float, float]] = []
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
    async with trio.open_nursery() as nursery:

        def say(line: str) -> None:
            if found := re.fullmatch(r"stream lost \(.*\), again in ([\d.]+) s", line):
                said.append((trio.current_time(), float(found[1])))
            if len(said) == 8:
                nursery.cancel_scope.cancel()

        nursery.start_soon(trio.serve_listeners, answer, [listener])
        nursery.start_soon(Agent(Plan(url, "Lobby", "demo", tmp_path / "agent.json"), say).run)
    for (before, seconds), (after, _) in pairwise(said):
        assert abs(after - before - seconds) <= 0.051  # it says tenths
