"""The command line of the voice node, and of a client for it."""

import argparse
import signal
import sys
from pathlib import Path

import msgspec
import trio
from wsproto.events import BytesMessage, CloseConnection

from scripts.game_server.client import Credentials, Rejected
from scripts.game_server.terminal import first, socket_address, tell, web_address
from scripts.voice_node.livekit import LiveKit
from scripts.voice_node.node import Media, Plan, Unknown, Unusable, VoiceNode
from scripts.voice_node.relay import open_relay
from scripts.voice_node.rooms import Refused
from scripts.voice_node.sockets import Lost, connect

DESCRIPTION = """\
A small voice node. `node` registers with Partyline by the credentials of a game server (scripts/agent keeps such a
file), checks the tokens of who connects, passes frames on between those in a room, and does what Partyline says: mute,
unmute, remove, close. It mixes nothing and knows no codec. With `--livekit` a LiveKit server carries the media instead:
its file of keys is written, and what Partyline says is done there. `talk` joins a room of a small node with a token,
says something each second, and prints what it hears. SIGTERM or Ctrl-C ends both; a small node is removed then.
"""


def main() -> None:
    """Run the node, or the client, until it is told to end by a signal."""
    parser = argparse.ArgumentParser(
        prog="partyline-voice", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    node = commands.add_parser("node", help="run a node")
    node.add_argument(
        "--url", type=web_address, default="http://127.0.0.1:8080", help="where Partyline is (%(default)s)"
    )
    node.add_argument(
        "--credentials",
        type=Path,
        default=Path(".partyline/agent.json"),
        help="of a game server (%(default)s)",
    )
    node.add_argument("--host", default="127.0.0.1", help="where clients connect (%(default)s)")
    node.add_argument("--port", type=_port, default=7880, help="0 for any (%(default)s)")
    node.add_argument("--region", default="eu-west", help="(%(default)s)")
    node.add_argument("--capacity", type=_count, default=100, help="clients at the same time (%(default)s)")
    node.add_argument(
        "--livekit",
        type=web_address,
        metavar="URL",
        help="of a LiveKit server, such as http://127.0.0.1:7880",
    )
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
    talker.add_argument("url", type=socket_address, help="`session.url` of the answer to joining")
    talker.add_argument("token", help="`session.token`")
    talker.add_argument("--words", default="hello", help="what to say (%(default)s)")
    given = parser.parse_args()
    status = 1
    try:
        trio.run(_until_told, given)
        status = 0
    except* (Unknown, Rejected, Refused) as group:
        tell(f"refused: {first(group)}", aside=True)
    except* (Unusable, Lost, OSError) as group:
        tell(f"cannot run: {first(group)}", aside=True)
    sys.exit(status)


async def _until_told(given: argparse.Namespace) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_when_told, nursery.cancel_scope)
        if given.command == "talk":
            await _talk(given.url, given.token, given.words)
        else:
            await _carry(given)
        nursery.cancel_scope.cancel()


async def _end_when_told(scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        await anext(signals)
        scope.cancel()


async def _carry(given: argparse.Namespace) -> None:
    try:
        credentials = msgspec.json.decode(given.credentials.read_bytes(), type=Credentials)
    except ValueError:
        raise Unusable(f"{given.credentials} holds no credentials of a game server") from None
    plan = Plan(given.url, credentials, given.region, given.capacity)
    if given.livekit is None:
        media: Media = await open_relay(given.host, given.port, tell)
    else:
        public_url = given.public_url or given.livekit.replace("http", "ws", 1)
        media = LiveKit(given.livekit, public_url, given.keys, tell)
    await VoiceNode(plan, media, tell).run()


async def _talk(url: str, token: str, words: str) -> None:
    async with connect(url, token) as peer, trio.open_nursery() as nursery:

        async def say() -> None:
            while True:
                await peer.send(BytesMessage(words.encode()))
                await trio.sleep(1)

        nursery.start_soon(say)
        while (event := await peer.next()) is not None and not isinstance(event, CloseConnection):
            if isinstance(event, BytesMessage):
                tell(f"heard: {bytes(event.data).decode(errors='replace')}")
        tell("the node has ended it")
        nursery.cancel_scope.cancel()


def _port(text: str) -> int:
    if not (text.isdecimal() and len(text) < 6 and int(text) < 65_536):
        raise ValueError
    return int(text)


def _count(text: str) -> int:
    if not 0 < int(text) <= 100_000:
        raise ValueError
    return int(text)


if __name__ == "__main__":
    main()
