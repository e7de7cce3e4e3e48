"""What a run does, as the parent tells it to its workers; and who is in which conversation.

Everything here is a pure function of the plan, so that parent and workers agree without talking about it.
"""

import math
import random
import uuid
from typing import Literal

import msgspec

USER_NAMESPACE = uuid.UUID("0f2d1c9a-7c0b-4a55-9a51-5d0c8a1f6e01")
MAX_USERS = 100_000
MAX_CONVERSATIONS = 100_000
MAX_MEMBERS = 1_024  # contract §4
MAX_PARTY = 16  # contract §6
MAX_NETWORK = 1_000  # agents in one network
OTHER_FILES = 128
"""How many files a worker opens besides the users' sockets."""
FLEETS = ("commands", "agents")
"""The traffic of game servers, for which `users` is the number of agents."""

Traffic = Literal["chat", "rest", "idle", "friends", "parties", "commands", "agents"]
RestKind = Literal["post", "list", "self", "health"]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One run.

    Args:
        host: the Host field, whose name resolves to `address`.
        address: IP address and port of the server.
        traffic: messages over live sockets, REST requests, sockets that only stay open, friends who come and go,
            parties that choose and get ready, commands for agents, or statuses of agents.
        users: how many users (or agents) there are, each with at most one socket.
        conversations: how many conversations, parties, or networks of agents.
        members: members of each, 2 to 1,024; two are a direct conversation, more a group. Of a party 2 to 16.
        friends: how many friends each user has, an even number; for the traffic `friends` and `idle`.
        mode: how parties are watched: by events, or by whole snapshots.
        senders: the first so many users send.
        live: the first so many users subscribe to all their conversations, in delta mode.
        window: messages in flight at once over all senders (closed loop); unused when `rate` is set.
        rate: messages (commands, statuses) a second over all senders, whatever the server does (open loop); 0 =
            closed loop. For `friends` changes of presence a second.
        rest: which request `rest` traffic repeats.
        connections: kept-alive connections of `rest` traffic, each with one request in flight.
        text_bytes: length of a message's text.
        seed: decides the random choices.
        run: marks this run's messages, so that those of other runs are not counted.
        prefix: how the users' names begin; users of one prefix are the same in every run.
        reopen: whether sockets that are lost are opened again.
        processes: how many workers there are; user n belongs to worker n modulo this.
    """

    host: str
    address: tuple[str, int]
    traffic: Traffic = "chat"
    users: int = 100
    conversations: int = 50
    members: int = 2
    friends: int = 50
    mode: Literal["delta", "snapshot"] = "delta"
    senders: int = 100
    live: int = 100
    window: int = 64
    rate: float = 0.0
    rest: RestKind = "self"
    connections: int = 64
    text_bytes: int = 100
    seed: int = 1
    run: str = "0"
    prefix: str = "load"
    reopen: bool = False
    processes: int = 1

    @property
    def clients(self) -> int:
        """How many users open a socket; it is the first ones who do."""
        if self.traffic == "parties":
            return self.conversations * self.members
        return max(self.live, self.senders) if self.traffic == "chat" else self.users


AWAY_SECONDS = 13.0
"""How long a user of `friends` is away: the grace (10 s, contract §5), and time for everybody to see it."""


class BadPlan(Exception):
    """The plan cannot be carried out as asked; the message says why."""


def check(plan: Plan) -> None:
    """Raise `BadPlan` for numbers that do not fit together."""
    if not 1 <= plan.users <= MAX_USERS:
        raise BadPlan(f"--users must be 1 to {MAX_USERS:,}")
    if not 1 <= plan.conversations <= MAX_CONVERSATIONS:
        raise BadPlan(f"--conversations must be 1 to {MAX_CONVERSATIONS:,}")
    if not 0 <= plan.rate < math.inf:
        raise BadPlan("--rate must not be negative, and be a number")
    if plan.traffic == "friends":
        _check_friends(plan)
        return
    if plan.traffic in FLEETS:
        _check_fleet(plan)
        return
    if not 2 <= plan.members <= min(MAX_MEMBERS, plan.users):
        raise BadPlan(f"--members must be 2 to {MAX_MEMBERS:,}, and not more than --users")
    if plan.traffic == "parties" and (plan.members > MAX_PARTY or plan.clients > plan.users):
        raise BadPlan(f"a party has at most {MAX_PARTY} --members, and nobody is in two: more --users")
    if plan.traffic == "chat" and not (1 <= plan.senders <= plan.users and 0 <= plan.live <= plan.users):
        raise BadPlan("--senders must be 1 to --users, --live 0 to --users")
    if not 1 <= plan.processes <= 64 or plan.processes > plan.users:
        raise BadPlan("--processes must be 1 to 64, and not more than --users")
    if not 60 <= plan.text_bytes <= 4000:
        raise BadPlan("--text-bytes must be 60 to 4000")
    if not 1 <= plan.window <= 100_000:
        raise BadPlan("--window must be 1 to 100,000")
    memberships(plan)


def check_room(plan: Plan, files: int, ports: int) -> None:
    """Raise `BadPlan` where the plan has more sockets than this machine lets the workers open.

    Args:
        files: how many files a process may have open.
        ports: how many connections this machine can have to one address, all processes together.
    """
    if plan.clients > ports:
        raise BadPlan(
            f"{plan.clients:,} sockets to one address, and this machine has {ports:,} ports for them "
            "(net.ipv4.ip_local_port_range)"
        )
    each = -(-plan.clients // plan.processes) + OTHER_FILES
    if each > files:
        raise BadPlan(
            f"each of {plan.processes} processes needs {each:,} files, and may open {files:,}: "
            "raise the limit (ulimit -Hn), or share them among more --processes"
        )


def _check_fleet(plan: Plan) -> None:
    if not 1 <= plan.conversations <= plan.users <= plan.conversations * MAX_NETWORK:
        raise BadPlan(
            f"a network has 1 to {MAX_NETWORK:,} agents: --users shared by --conversations networks"
        )
    if not 1 <= plan.processes <= min(64, plan.conversations):
        raise BadPlan("--processes must be 1 to 64, and not more than networks (--conversations)")
    if plan.traffic == "agents" and plan.conversations < 2 * plan.processes:
        raise BadPlan(
            "a network that is looked at is silent: two networks (--conversations) for each process"
        )
    if not 1 <= plan.window <= 100_000:
        raise BadPlan("--window must be 1 to 100,000")


def _check_friends(plan: Plan) -> None:
    if plan.friends % 2 or not 2 <= plan.friends < plan.users:
        raise BadPlan("--friends must be even, at least 2, and less than --users")
    if plan.processes != 1:
        raise BadPlan("one process closes the sockets and sees it: --processes must be 1")
    if not 0 < plan.rate <= plan.users / AWAY_SECONDS:
        raise BadPlan(
            f"--rate must be above 0, and small enough that at most half of the users are away: "
            f"{plan.users / AWAY_SECONDS:,.0f} changes/s here"
        )


def user_name(plan: Plan, user: int) -> str:
    """The name of user n."""
    return f"{plan.prefix}{user:06d}"


def user_id(plan: Plan, user: int) -> str:
    """The id of user n."""
    return str(uuid.uuid5(USER_NAMESPACE, user_name(plan, user)))


def network_of(plan: Plan, agent: int) -> int:
    """The number of an agent's network, which is also that of the user who owns it."""
    return agent % plan.conversations


def memberships(plan: Plan) -> list[tuple[int, ...]]:
    """The user numbers of each conversation, its creator first.

    Users are dealt out in order while there are enough; then sets are drawn at random. No two conversations
    have the same members, because they would be one and the same (contract §4).

    Raises:
        BadPlan: so many different sets do not exist, or are hard to find.
    """
    rng = random.Random(plan.seed)
    found: list[tuple[int, ...]] = []
    seen: set[frozenset[int]] = set()
    tries = 0
    while len(found) < plan.conversations:
        start = len(found) * plan.members
        if start + plan.members <= plan.users:
            members = tuple(range(start, start + plan.members))
        else:
            members = tuple(rng.sample(range(plan.users), plan.members))
        tries += 1
        if frozenset(members) not in seen:
            seen.add(frozenset(members))
            found.append(members)
        elif tries > 20 * plan.conversations + 100:
            raise BadPlan(f"{plan.users} users have too few different sets of {plan.members}")
    return found


def friendships(plan: Plan) -> list[tuple[int, int]]:
    """Pairs of users who are friends: everybody and the next ones, in a ring, so that all have the same number."""
    steps = range(1, plan.friends // 2 + 1)
    return [(user, (user + step) % plan.users) for user in range(plan.users) for step in steps]


def conversations_of(plan: Plan) -> dict[int, list[int]]:
    """The conversation numbers of each user who is in any: {user: [conversation]}."""
    of: dict[int, list[int]] = {}
    for number, members in enumerate(memberships(plan)):
        for user in members:
            of.setdefault(user, []).append(number)
    return of
