"""Makes what a load needs before it begins."""

import os
import time

import msgspec
import trio

from scripts.benchmarks.cases import plan
from scripts.benchmarks.servers import Server
from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.http import Requests
from scripts.load.plan import Plan, user_id, user_name
from scripts.load.stage import prepare


class Stage(msgspec.Struct, frozen=True):
    """A plan, and what was made for it on a server: tokens, and ids of conversations (or the agents)."""

    plan: Plan
    tokens: dict[int, str]
    conversations: list[str]


async def staged(options: dict[str, object], server: Server, messages: int = 0) -> Stage:
    """Make users, tokens and conversations for a plan, and post so many messages into the first conversation."""
    what = plan(options, server.port, os.urandom(4).hex())
    now_seconds = int(time.time())
    tokens = {
        user: server.sign(user_id(what, user), user_name(what, user), now_seconds)
        for user in range(what.users)
    }
    conversations = await prepare(what, tokens, lambda *_seen: None)
    loop = EventLoop()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop.run)
        requests = Requests(loop, what.address, what.host, 1)
        for number in range(messages):
            target = f"/v1/social/chat/conversations/{conversations[0]}/messages"
            body = {"content": f"message {number}"}
            await requests.send("POST", target, tokens[number % what.users], body)
        nursery.cancel_scope.cancel()
    return Stage(what, tokens, conversations)
