"""The agent waits as long as it says before it opens its stream again, and as Partyline asks."""

import re
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import trio
import trio.testing

from scripts.game_server.agent import Agent, Plan

NOTHING_RUNS = b'{"items":[],"nextCursor":null,"hasMore":false}'
SETTLED_SECONDS = 0.02
"""Of real time, in which everything on the loopback has been answered."""


async def answer(refusal: bytes, stream: trio.SocketStream) -> None:
    """One request to a service that says what runs, and has no room for anything else."""
    async with stream:
        asked = await stream.receive_some(65_536)
        status, body = (b"200 OK", NOTHING_RUNS) if b"/commands?" in asked else (refusal, b"")
        await stream.send_all(
            b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b"
            % (status, len(body), body)
        )


@pytest.mark.parametrize(
    ("refusal", "least", "most"),
    [
        (b"503 Full", 0.0, 30.0),
        (b"503 Full\r\nRetry-After: 40", 40.0, 50.0),
        (b"429 Too Many\r\nretry-after: 40", 40.0, 50.0),
        (b"503 Full\r\nRetry-After: 86400", 60.0, 75.0),
        (b"503 Full\r\nRetry-After: Sun, 29 Nov 2026 12:00:00 GMT", 0.0, 30.0),
    ],
    ids=["it does not say", "503", "429", "for a day", "until a date"],
)
async def test_it_waits_as_long_as_it_says(
    tmp_path: Path, mock_clock: trio.testing.MockClock, refusal: bytes, least: float, most: float
) -> None:
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
            if len(said) == 5:
                nursery.cancel_scope.cancel()

        nursery.start_soon(trio.serve_listeners, partial(answer, refusal), [listener])
        nursery.start_soon(Agent(Plan(url, "Lobby", "demo", tmp_path / "agent.json"), say).run)
    for (before, seconds), (after, _) in pairwise(said):
        assert abs(after - before - seconds) <= 0.051  # it says tenths
        assert least <= seconds <= most
    assert (
        least == 0 or len({seconds for _, seconds in said}) > 1
    )  # not all who were refused come back at once
