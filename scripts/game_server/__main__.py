"""The command line of the agent."""

import argparse
import signal
import sys
from pathlib import Path

import trio

from scripts.game_server.agent import Agent, Plan
from scripts.game_server.client import Rejected
from scripts.game_server.keeping import Unusable
from scripts.game_server.terminal import first, tell, web_address

DESCRIPTION = """\
A small game server. It registers with Partyline (or uses the credentials that it has kept), listens on its stream,
does the commands that it is given, and says now and then how it is. Until somebody has claimed it, it shows
a claim key, a fresh one every four minutes. SIGTERM or Ctrl-C ends it. It exits with 1 where Partyline refuses it, or
its credentials cannot be read or kept.
"""

ACTIONS = """\
commands that it knows (POST /v1/connect/servers/{serverId}/commands):
  echo    answers the payload
  say     prints payload.text
  count   counts to payload.to, with progress
  fail    fails with payload.error
All others are rejected. One that is delivered twice is done once.
"""


def main() -> None:
    """Run the agent until it is told to end by a signal."""
    parser = argparse.ArgumentParser(
        prog="partyline-agent",
        description=DESCRIPTION,
        epilog=ACTIONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--url", type=web_address, default="http://127.0.0.1:8080", help="where Partyline is (%(default)s)"
    )
    parser.add_argument("--name", default="Agent", help="what the server is called (%(default)s)")
    parser.add_argument("--type", default="agent-demo", help="what sort of server it is (%(default)s)")
    parser.add_argument(
        "--credentials",
        type=Path,
        default=Path(".partyline/agent.json"),
        help="where id and secret are kept, readable by you alone (%(default)s)",
    )
    parser.add_argument(
        "--status-seconds", type=_seconds, default=30.0, help="between two status pushes (%(default)s)"
    )
    parser.add_argument(
        "--action-seconds", type=_seconds, default=60.0, help="how long a command may take (%(default)s)"
    )
    given = parser.parse_args()
    plan = Plan(
        url=given.url,
        name=given.name,
        server_type=given.type,
        credentials=given.credentials,
        status_seconds=given.status_seconds,
        action_seconds=given.action_seconds,
    )
    status = 1
    try:
        trio.run(_run, Agent(plan, tell))
        status = 0
    except* Rejected as group:
        tell(f"refused: {first(group)}", aside=True)
    except* (Unusable, OSError) as group:
        tell(f"cannot run: {first(group)}", aside=True)
    sys.exit(status)


async def _run(agent: Agent) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_when_told, nursery.cancel_scope)
        await agent.run()


async def _end_when_told(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        await anext(signals)
        scope.cancel()


def _seconds(text: str) -> float:
    if not 0 < float(text) < 1e9:
        raise ValueError
    return float(text)


if __name__ == "__main__":
    main()
