"""Makes what must be there before a run: the users, and their conversations, friendships, parties or game servers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec
import trio

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.http import RequestFailed, Requests
from scripts.load.plan import FLEETS, Plan, friendships, memberships, user_id

CONNECTIONS = 16
WAITING = 1_000  # tasks at once, however much there is to make
THERE_ALREADY = 409

T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""Called with what is being made, how many there are, and how many there will be."""


class _Made(msgspec.Struct):
    id: str


class _Member(msgspec.Struct, rename="camel"):
    player_id: str


class _Network(msgspec.Struct, rename="camel"):
    network_id: str


class _NetworkAnswer(msgspec.Struct):
    network: _Network


class _JoinToken(msgspec.Struct, rename="camel"):
    join_token: str


class _Joined(msgspec.Struct, rename="camel"):
    server_id: str
    server_secret: str
    network_id: str


class _Party(msgspec.Struct):
    id: str
    members: list[_Member]


class _PartyAnswer(msgspec.Struct):
    party: _Party


async def prepare(plan: Plan, tokens: dict[int, str], progress: Progress) -> list[str]:
    """Make the users known to the server, then what the traffic needs of them.

    What an earlier run has made is used again, but for agents.

    Args:
        plan: the plan of the run.
        tokens: access tokens, {number of the user: token}.
        progress: see `Progress`.

    Returns:
        The conversations' ids; or the agents, each as one text of its id, its secret and its network's id.

    Raises:
        RequestFailed: the server has refused a request. Cancellation leaves what was made.
    """
    loop = EventLoop()
    ids: list[str] = []
    async with trio.open_nursery() as serving:
        serving.start_soon(loop.run)
        stage = _Stage(plan, tokens, progress, Requests(loop, plan.address, plan.host, CONNECTIONS))
        owners = plan.conversations if plan.traffic in FLEETS else plan.users
        await stage.each("users", range(owners), stage.know)
        if plan.traffic in FLEETS:
            await stage.each("networks", range(owners), stage.found)
            await stage.each("filled networks", range(owners), stage.fill)
            ids = [stage.ids[number] for number in range(plan.users)]
        elif plan.traffic == "friends":
            await stage.each("friendships", friendships(plan), stage.befriend)
        elif plan.traffic == "parties":
            await stage.each("parties", memberships(plan), stage.gather)
        else:
            await stage.each("conversations", list(enumerate(memberships(plan))), stage.converse)
            ids = [stage.ids[number] for number in range(plan.conversations)]
            if plan.traffic == "idle" and plan.friends:
                await stage.each("friendships", friendships(plan), stage.befriend)
        stage.requests.close()
        serving.cancel_scope.cancel()
    return ids


class _Stage:
    """The preparation of one run."""

    def __init__(self, plan: Plan, tokens: dict[int, str], progress: Progress, requests: Requests) -> None:
        self.plan, self.tokens, self.progress, self.requests = plan, tokens, progress, requests
        self.ids: dict[int, str] = {}  # {conversation: its id}, {agent: what it needs}
        self.networks: dict[int, str] = {}  # {user: id of their network}

    async def each(self, what: str, all_: Sequence[T], make: Callable[[T], Awaitable[None]]) -> None:
        """Make all of something, some at the same time, and tell the progress."""
        room = trio.Semaphore(WAITING)
        done = 0

        async def make_one(one: T) -> None:
            nonlocal done
            try:
                await make(one)
            finally:
                room.release()
            done += 1
            self.progress(what, done, len(all_))

        async with trio.open_nursery() as nursery:
            for one in all_:
                await room.acquire()
                nursery.start_soon(make_one, one)

    async def know(self, user: int) -> None:
        """Make a user known to the server, by their first request."""
        await self.requests.send("GET", "/v1/profile/self", self.tokens[user])

    async def converse(self, numbered: tuple[int, tuple[int, ...]]) -> None:
        """Make a conversation."""
        number, (creator, *others) = numbered
        body = {
            "kind": "direct" if len(others) == 1 else "group",
            "participantIds": [user_id(self.plan, other) for other in others],
        }
        answer = await self.requests.send("POST", "/v1/social/chat/conversations", self.tokens[creator], body)
        self.ids[number] = msgspec.json.decode(answer, type=_Made).id

    async def befriend(self, pair: tuple[int, int]) -> None:
        """Make two users friends, by two requests that meet (contract §5)."""
        for user, other in (pair, pair[::-1]):
            try:
                await self.requests.send(
                    "POST",
                    "/v1/social/friends/requests",
                    self.tokens[user],
                    {"targetId": user_id(self.plan, other)},
                )
            except RequestFailed as failed:
                if failed.status != THERE_ALREADY:
                    raise

    async def found(self, user: int) -> None:
        """Make a network."""
        answer = await self.requests.send("POST", "/v1/connect/networks", self.tokens[user], {"name": "Load"})
        self.networks[user] = msgspec.json.decode(answer, type=_NetworkAnswer).network.network_id

    async def fill(self, user: int) -> None:
        """Let the agents of a user's network join it, one after another, as a network has few open join tokens at
        once."""
        path = f"/v1/connect/networks/{self.networks[user]}/join-token"
        for agent in range(user, self.plan.users, self.plan.conversations):
            answer = await self.requests.send("POST", path, self.tokens[user])
            token = msgspec.json.decode(answer, type=_JoinToken).join_token
            body = {"joinToken": token, "name": f"agent {agent}"}
            answer = await self.requests.send("POST", "/v1/connect/networks/join", self.tokens[user], body)
            joined = msgspec.json.decode(answer, type=_Joined)
            self.ids[agent] = f"{joined.server_id} {joined.server_secret} {joined.network_id}"

    async def gather(self, members: tuple[int, ...]) -> None:
        """Make a party, and bring all members into it who are not there yet."""
        leader, *others = members
        answer = await self.requests.send("POST", "/v1/social/party", self.tokens[leader])
        party = msgspec.json.decode(answer, type=_PartyAnswer).party
        there = {member.player_id for member in party.members}
        for other in others:
            id = user_id(self.plan, other)
            if id in there:
                continue
            await self.requests.send(
                "POST", "/v1/social/party/invites", self.tokens[leader], {"targetId": id}
            )
            path = f"/v1/social/party/invites/{party.id}/accept"
            await self.requests.send("POST", path, self.tokens[other])
