"""Autobahn's fuzzing client and what it is let loose on; `scripts/autobahn` installs it, and runs all of it by this.

python -m tests.edge.autobahn WSTEST REPORT [CASES ...]
"""

import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple, TypeAlias

import msgspec
import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

from actors.kernel.clock import SystemClock
from routes.edge.limits import Limits
from routes.edge.transport.settings import ServerSettings
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket
from tests.edge.apps import Application
from tests.support.server import running

VERSION = "25.10.1"
"""Of `autobahntestsuite`; `scripts/autobahn` installs it."""

Agent = Literal["asgi", "live"]

AGENTS: Mapping[Agent, str] = {
    "asgi": "an ASGI application that sends back what comes",
    "live": "a live stream that sends back what comes, with permessage-deflate",
}
"""What is tested: {name in the report: what it is}."""

EVERY: Mapping[Agent, Sequence[str]] = {"asgi": [f"{n}.*" for n in range(1, 11)], "live": ["*"]}
"""The cases that concern each; 12 and 13 are compression, which is for live streams alone."""

FINE = {"OK", "INFORMATIONAL"}

_OWN_TASK = (
    "the application has its own task: a frame that breaks a rule ends the connection before it has answered"
)
_TEXT_ONLY = "a live stream takes JSON text: a binary message closes it, and says so"
_NARROW = (
    "who limits our window is served without compression: one compressed frame has to do for every socket"
)

ACCEPTED: Mapping[Agent, Mapping[str, tuple[str, str]]] = {
    "asgi": {
        # Which of them depends on who comes first.
        "3.*": ("NON-STRICT", _OWN_TASK),
        "4.*": ("NON-STRICT", _OWN_TASK),
        "5.15": ("NON-STRICT", _OWN_TASK),
    },
    "live": {
        "1.2.*": ("FAILED", _TEXT_ONLY),
        "9.[2468].*": ("FAILED", _TEXT_ONLY),
        "12.[235].*": ("FAILED", _TEXT_ONLY),
        "13.[35].*": ("UNIMPLEMENTED", _NARROW),
    },
}
"""What is not what Autobahn would like best, and stays: {agent: {pattern of cases: (verdict, why)}}."""


class Verdict(NamedTuple):
    """What Autobahn thinks of one case: of the exchange, and of how it was closed."""

    behavior: str
    close: str

    def __str__(self) -> str:
        return (
            self.behavior if self.close in {self.behavior, "OK"} else f"{self.behavior}, closing {self.close}"
        )


Report: TypeAlias = dict[str, Verdict]
"""{case: verdict}, in the order of the cases' numbers."""


def deviations(agent: Agent, report: Report) -> Report:
    """What is neither fine nor accepted."""
    return {
        case: verdict
        for case, verdict in report.items()
        if not set(verdict) <= FINE and _accepted(agent, case) != verdict.behavior
    }


def _accepted(agent: Agent, case: str) -> str | None:
    patterns = ACCEPTED[agent].items()
    return next((behavior for pattern, (behavior, _) in patterns if fnmatchcase(case, pattern)), None)


async def fuzz(wstest: Path, agent: Agent, cases: Sequence[str], folder: Path) -> Report:
    """Run cases against an agent.

    Args:
        wstest: the program.
        cases: by number; a trailing `*` takes the rest.
        folder: for Autobahn's own report, which has a page for every case.
    """
    async with _serving(agent) as base_url:
        specification = {
            "outdir": str(folder / "report"),
            "servers": [{"agent": agent, "url": base_url.replace("http", "ws") + "/live"}],
            "cases": list(cases),
            "exclude-cases": [],
            "exclude-agent-cases": {},
        }
        (folder / "client.json").write_text(json.dumps(specification))
        command = [str(wstest), "--mode=fuzzingclient", f"--spec={folder / 'client.json'}"]
        await trio.run_process(command, capture_stdout=True)
    found = json.loads((folder / "report" / "index.json").read_text())[agent]
    return {
        case: Verdict(found[case]["behavior"], found[case]["behaviorClose"])
        for case in sorted(found, key=_numbers)
    }


def _numbers(case: str) -> list[int]:
    return [int(part) for part in case.split(".")]


@asynccontextmanager
async def _serving(agent: Agent) -> AsyncIterator[str]:
    app = _echo if agent == "asgi" else Application(handler=_mirror, sockets=Sockets(SystemClock(), Random()))
    settings = ServerSettings(
        max_message_bytes=20_000_000,
        max_per_address=None,
        deflate=agent == "live",
        limits=Limits(enabled=False),
    )
    async with running(app, settings=settings) as base_url:
        yield base_url


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


class _Mirror:
    """Sends back what comes, as it is; implements `Listener`."""

    def __init__(self, socket: LiveSocket) -> None:
        self._socket = socket

    def heard(self, message: bytes) -> None:
        self._socket.send_nowait(prepare(msgspec.Raw(message)))


async def _mirror(socket: LiveSocket) -> _Mirror:
    return _Mirror(socket)


def page(reports: Mapping[Agent, Report]) -> str:
    """The results as a document: cases in a row that fared alike share a line."""
    agents = list(reports)
    rows: list[tuple[list[str], list[str]]] = []
    for case in sorted({case for report in reports.values() for case in report}, key=_numbers):
        told = [str(reports[agent][case]) if case in reports[agent] else "" for agent in agents]
        alike = rows and rows[-1][1] == told and _numbers(rows[-1][0][0])[:-1] == _numbers(case)[:-1]
        if alike:
            rows[-1][0].append(case)
        else:
            rows.append(([case], told))
    lines = [
        "# Autobahn",
        "",
        f"What the fuzzing client of Autobahn's test suite ({VERSION}) found, written by `scripts/autobahn`.",
        "",
        *(f"- `{agent}`: {AGENTS[agent]}" for agent in agents),
        "",
        f"| Cases | {' | '.join(f'`{agent}`' for agent in agents)} |",
        f"| --- |{' --- |' * len(agents)}",
    ]
    for cases, told in rows:
        span = cases[0] if len(cases) == 1 else f"{cases[0]}–{cases[-1]}"
        lines.append(f"| {span} | {' | '.join(told)} |")
    lines += ["", "## Deviations that are accepted", ""]
    for agent in agents:
        lines += [
            f"- `{agent}` {pattern}, {behavior}: {why}."
            for pattern, (behavior, why) in ACCEPTED[agent].items()
        ]
    return "\n".join([*lines, ""])


async def _main(wstest: Path, cases: Sequence[str]) -> int:
    reports: dict[Agent, Report] = {}
    for agent in AGENTS:
        with TemporaryDirectory(prefix="partyline-autobahn-") as folder:
            reports[agent] = await fuzz(wstest, agent, cases or EVERY[agent], Path(folder))
    print(page(reports), end="")
    wrong = {agent: found for agent, report in reports.items() if (found := deviations(agent, report))}
    for agent, found in wrong.items():
        for case, verdict in found.items():
            print(f"not accepted: {agent} {case}: {verdict}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(trio.run(_main, Path(sys.argv[1]), sys.argv[2:]))
