"""The command line of the voice node, and of a client for it."""

import argparse
import sys
from functools import partial
from pathlib import Path

import httpx2
import msgspec
import trio
from wsproto.events import BytesMessage, CloseConnection

from scripts.voice_node.livekit import LiveKit
from scripts.voice_node.node import Media, Plan, Unknown, VoiceNode
from scripts.voice_node.relay import open_relay
from scripts.voice_node.rooms import Refused
from scripts.voice_node.sockets import Lost, connect

DESCRIPTION = """\
A small voice node. `node` registers with Partyline by the credentials of a game server (scripts/agent keeps such a
file), checks the tokens of who connects, passes frames on between those in a room, and does what Partyline says: mute,
unmute, remove, close. It mixes nothing and knows no codec. With `--livekit` a LiveKit server carries the media instead:
its file of keys is written, and what Partyline says is done there. `talk` joins a room of a small node with a token,
says something each second, and prints what it hears.
"""


class KeptCredentials(msgspec.Struct, frozen=True):
    """What scripts/agent keeps."""

    server_id: str
    server_secret: str


def main() -> None:
    """Run until it is interrupted."""
    parser = argparse.ArgumentParser(
        prog="partyline-voice", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    node = commands.add_parser("node", help="run a node")
    node.add_argument("--url", default="http://127.0.0.1:8080", help="where Partyline is (%(default)s)")
    node.add_argument(
        "--credentials",
        type=Path,
        default=Path(".partyline/agent.json"),
        help="of a game server (%(default)s)",
    )
    node.add_argument("--host", default="127.0.0.1", help="where clients connect (%(default)s)")
    node.add_argument("--port", type=int, default=7880, help="0 for any (%(default)s)")
    node.add_argument("--region", default="eu-west", help="(%(default)s)")
    node.add_argument("--capacity", type=int, default=100, help="clients at the same time (%(default)s)")
    node.add_argument("--livekit", metavar="URL", help="of a LiveKit server, such as http://127.0.0.1:7880")
    node.add_argument(
        "--keys",
        type=Path,
        default=Path(".partyline/livekit-keys.yaml"),
        help="LiveKit's file of keys; without it the node registers anew (%(default)s)",
    )
    node.add_argument(
        "--public-url", metavar="URL", help="where clients find LiveKit; as --livekit if left out"
    )
    talker = commands.add_parser("talk", help="join a room")
    talker.add_argument("url", help="`session.url` of the answer to joining")
    talker.add_argument("token", help="`session.token`")
    talker.add_argument("--words", default="hello", help="what to say (%(default)s)")
    given = parser.parse_args()
    try:
        if given.command == "talk":
            trio.run(_talk, given.url, given.token, given.words)
            return
        trio.run(_carry, given)
    except* KeyboardInterrupt:
        print()
    except* (Unknown, httpx2.HTTPError, OSError) as group:
        sys.exit(f"scripts/voice: {group.exceptions[0]}")


async def _carry(given: argparse.Namespace) -> None:
    kept = msgspec.json.decode(given.credentials.read_bytes(), type=KeptCredentials)
    headers = {"authorization": f"Bearer {kept.server_secret}", "x-server-id": kept.server_id}
    plan = Plan(given.url.rstrip("/"), headers, given.region, given.capacity)
    say = partial(print, flush=True)
    if given.livekit is None:
        media: Media = await open_relay(given.host, given.port, say)
    else:
        api_url = given.livekit.rstrip("/")
        public_url = given.public_url or api_url.replace("http", "ws", 1)
        media = LiveKit(api_url, public_url, given.keys, say)
    await VoiceNode(plan, media, say).run()


async def _talk(url: str, token: str, words: str) -> None:
    try:
        async with connect(url, token) as peer, trio.open_nursery() as nursery:

            async def say() -> None:
                while True:
                    await peer.send(BytesMessage(words.encode()))
                    await trio.sleep(1)

            nursery.start_soon(say)
            while (event := await peer.next()) is not None and not isinstance(event, CloseConnection):
                if isinstance(event, BytesMessage):
                    print("heard:", bytes(event.data).decode(errors="replace"), flush=True)
            print("the node has ended it", flush=True)
            nursery.cancel_scope.cancel()
    except* (Refused, Lost) as refused:
        print("refused:", refused.exceptions[0], flush=True)


main()
