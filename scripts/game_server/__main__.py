"""The command line of the agent."""

import argparse
import sys
from functools import partial
from pathlib import Path

import trio

from scripts.game_server.agent import Agent, Plan
from scripts.game_server.client import Rejected

DESCRIPTION = """\
A small game server. It registers with Partyline (or uses the credentials that it has kept), listens on its stream,
does the commands that it is given, and says now and then how it is. Until somebody has claimed it, it shows
a claim key, a fresh one every four minutes.
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
    """Run until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="partyline-agent",
        description=DESCRIPTION,
        epilog=ACTIONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="where Partyline is (%(default)s)")
    parser.add_argument("--name", default="Agent", help="what the server is called (%(default)s)")
    parser.add_argument("--type", default="agent-demo", help="what sort of server it is (%(default)s)")
    parser.add_argument(
        "--credentials",
        type=Path,
        default=Path(".partyline/agent.json"),
        help="where id and secret are kept, readable by you alone (%(default)s)",
    )
    parser.add_argument(
        "--status-seconds", type=float, default=30.0, help="between two status pushes (%(default)s)"
    )
    given = parser.parse_args()
    plan = Plan(
        url=given.url.rstrip("/"),
        name=given.name,
        server_type=given.type,
        credentials=given.credentials,
        status_seconds=given.status_seconds,
    )
    try:
        trio.run(Agent(plan, partial(print, flush=True)).run)
    except* KeyboardInterrupt:
        return_code = 0
    except* Rejected as group:
        return_code = 1
        print(f"refused: {group.exceptions[0]}", file=sys.stderr)
    else:
        return_code = 0
    sys.exit(return_code)


main()
