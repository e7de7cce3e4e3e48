"""Who and what is there before a soak begins: users, conversations, friendships, game servers, and a super-admin."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from scripts.load.fleet import Agent
from scripts.load.plan import Plan, memberships, network_of, user_id, user_name
from scripts.load.stage import prepare
from scripts.load.tokens import by_own_key
from scripts.soaking.server import SoakedServer

ROOMS, MEMBERS = 16, 4
SCRATCH_ROOMS = 8
NETWORKS, AGENTS = 2, 6
PREFIX = "soak"


class User(NamedTuple):
    """A user.

    Args:
        id, name: the user's id and name, as their token has them.
        token: an access token that is valid for a day.
    """

    id: str
    name: str
    token: str


class Room(NamedTuple):
    """A conversation.

    Args:
        id: the conversation's id.
        members: the users who are in it.
    """

    id: str
    members: tuple[User, ...]

    @property
    def path(self) -> str:
        """The path of the conversation's resource."""
        return f"/v1/social/chat/conversations/{self.id}"


@dataclass
class Scene:
    """All users, conversations and game servers of a soak.

    Args:
        users: all users.
        root: a super-admin.
        rooms: groups in which each message is accounted for.
        scratch: conversations of two in which messages are changed and removed.
        agents: game servers, each with its owner.
        rng: makes all random choices.
    """

    users: list[User]
    root: User
    rooms: list[Room]
    scratch: list[Room]
    agents: list[tuple[Agent, User]]
    rng: Random
    products: list[str] = field(default_factory=list)
    """Ids of the products that are on sale, once an admin has put them there."""
    articles: list[tuple[str, list[str]]] = field(default_factory=list)
    """The newest articles with polls, each with the ids of its options."""

    def someone(self) -> User:
        """A random user."""
        return self.rng.choice(self.users)

    def two(self) -> tuple[User, User]:
        """Two random users."""
        one, other = self.rng.sample(self.users, 2)
        return one, other


async def set_scene(
    server: SoakedServer, users: int, rng: Random, progress: Callable[[str, int, int], None]
) -> Scene:
    """Make the scene on a server.

    Args:
        server: the running server.
        users: how many users, at least eight.
        rng: makes all random choices.
        progress: told of the progress, as `scripts.load.stage.Progress` says.

    Raises:
        RequestFailed: the server has refused a request. Cancellation leaves what was made.
    """
    address = ("127.0.0.1", server.port)

    def a_plan(**fields: object) -> Plan:
        plan = Plan(host=f"127.0.0.1:{server.port}", address=address, users=users, prefix=PREFIX, seed=1)
        return Plan(**{name: getattr(plan, name) for name in plan.__struct_fields__} | fields)

    sign, now_seconds = by_own_key(server.data_dir), int(time.time())
    base = a_plan(friends=4)
    people = [
        User(id, name, sign(id, name, now_seconds))
        for id, name in ((user_id(base, number), user_name(base, number)) for number in range(users))
    ]
    tokens = {number: user.token for number, user in enumerate(people)}
    groups = a_plan(conversations=ROOMS, members=min(MEMBERS, users))
    pairs = a_plan(conversations=min(SCRATCH_ROOMS, users // 2), members=2)
    rooms = [
        [
            Room(id, tuple(people[member] for member in members))
            for id, members in zip(await prepare(plan, tokens, progress), memberships(plan), strict=True)
        ]
        for plan in (groups, pairs)
    ]
    await prepare(a_plan(traffic="friends", friends=4), tokens, progress)
    fleet = a_plan(traffic="commands", users=AGENTS, conversations=NETWORKS)
    made = [line.split(" ") for line in await prepare(fleet, tokens, progress)]
    agents = [
        (Agent(number, network_of(fleet, number), *words), people[network_of(fleet, number)])
        for number, words in enumerate(made)
    ]
    return Scene(people, await _root(server), rooms[0], rooms[1], agents, rng)


async def _root(server: SoakedServer) -> User:
    id = f"{secrets.token_hex(4)}-0000-4000-8000-000000000000"
    token = await server.command(
        "token", "--name", "Root", "--id", id, "--role", "super-admin", "--ttl", "86400"
    )
    return User(id, "Root", token)
