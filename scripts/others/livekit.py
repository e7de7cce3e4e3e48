"""livekit-server-sdk reads the token that a user gets for a voice channel."""

from functools import partial
from pathlib import Path
from typing import Any

import trio

from scripts.others import node
from scripts.others.node import Differs, expect
from scripts.others.service import answered, game_server, user
from tests.support.process import server_process

VERSION = "2.19.2"

SCRIPT = Path(__file__).with_suffix(".js")

VOICE = "/v1/social/voice"

NODE = {"region": "eu-west", "publicUrl": "wss://voice.example.net", "capacity": 10, "protocol": "livekit"}
API_KEY, API_SECRET = "APIinterop", "a secret of a service that lives for a minute"


async def livekit() -> None:
    """The whole check, with a service of its own.

    Raises:
        NoNode: programs of Node cannot run here.
        Differs: the token says something else than Partyline, or another secret opens it.
    """
    await trio.to_thread.run_sync(node.install, f"livekit-server-sdk@{VERSION}")
    async with (
        server_process() as server,
        await user(server, "Operator", "super-admin") as operator,
        await user(server, "Ann") as ann,
        await user(server, "Ben") as ben,
    ):
        machine = await game_server(operator, "Voice")
        body = NODE | {"livekit": {"apiKey": API_KEY, "apiSecret": API_SECRET}}
        await answered(operator.post(f"{VOICE}/nodes/register", json=body, headers=machine.headers))
        friend = (await answered(ben.get("/v1/auth/verify")))["userId"]
        channel = await answered(ann.post(f"{VOICE}/channels/private", json={"targetId": friend}))
        joined = await answered(ann.post(f"{VOICE}/session/join", json={"channelId": channel["id"]}))
        me = await answered(ann.get("/v1/auth/verify"))
    token = joined["session"]["token"]
    claims: Any = await trio.to_thread.run_sync(partial(node.run, SCRIPT, API_KEY, API_SECRET, token))
    expect("whose token it is", (claims["sub"], claims["name"]), (me["userId"], "Ann"))
    expect("the room", (claims["video"]["room"], claims["video"]["roomJoin"]), (channel["id"], True))
    expect("what may be published", claims["video"]["canPublishSources"], ["microphone"])
    try:
        await trio.to_thread.run_sync(partial(node.run, SCRIPT, API_KEY, API_SECRET[::-1], token))
    except Differs:
        return
    raise Differs("a token was read with another secret")
