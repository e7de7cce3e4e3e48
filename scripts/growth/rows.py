"""What grows: workloads at three sizes, each about ten times the one before."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import asyncpg
from msgspec.structs import replace

from scripts.benchmarks.cases import LIST_LENGTH, Case, fanout, pairs, rest
from scripts.load.plan import Plan, friendships, user_id

Fill = Callable[[asyncpg.Connection, Plan], Awaitable[None]]
"""Stores what a workload needs to be there, straight in the database."""

Options = dict[str, object]

MESSAGES_EACH = 10_000
"""How many messages each conversation has that is stored."""

RECORD_BYTES = 300
_PIECE = 20  # conversations that one statement fills


@dataclass(frozen=True, slots=True)
class Growth:
    """One workload, and what grows meanwhile.

    Args:
        name: the name that the command takes.
        title: the title that the table shows.
        case: the workload at a size.
        sizes: the sizes, smallest first.
        most: the steepest slope that is allowed, as the exponent of the size that the cost of a unit grows with: 0.05 =
            hardly at all, 1.05 = in proportion.
        fill: what is stored before anything is measured; None = nothing.
        idle: the plan of sockets that are open meanwhile; None = no others.
    """

    name: str
    title: str
    case: Callable[[int], Case]
    sizes: tuple[int, int, int]
    most: float = 0.05
    fill: Callable[[int], Fill] | None = None
    idle: Callable[[int], Options] | None = None


def stored_messages(count: int) -> Fill:
    """Store so many messages, in conversations that nobody opens."""

    async def fill(conn: asyncpg.Connection, _plan: Plan) -> None:
        for first in range(0, count // MESSAGES_EACH, _PIECE):
            last = min(first + _PIECE, count // MESSAGES_EACH)
            await conn.execute(_MESSAGES, first, last - 1, MESSAGES_EACH, b"x" * RECORD_BYTES)
        await conn.execute("VACUUM (ANALYZE) messages")
        await conn.execute("CHECKPOINT")

    return fill


_MESSAGES = """
INSERT INTO messages
    (conversation_id, seq, id, created_at_ms, sender_id, sender_seq, record, has_poll, poll_open)
SELECT 'f' || lpad(to_hex(room), 23, '0'), number, 'f' || lpad(to_hex(room::bigint * $3 + number), 23, '0'),
       extract(epoch FROM now())::bigint * 1000 - $3 + number, 'nobody', number, $4, false, false
FROM generate_series($1::int, $2::int) AS room, generate_series(1, $3::int) AS number
"""


def befriended(count: int) -> Fill:
    """Store so many friends for each user of the plan."""

    async def fill(conn: asyncpg.Connection, plan: Plan) -> None:
        pairs_of = friendships(replace(plan, friends=count))
        links = [(user_id(plan, one), user_id(plan, other)) for one, other in pairs_of]
        await conn.executemany(_LINK, links + [(other, one) for one, other in links])

    return fill


_LINK = """
INSERT INTO friend_links (user_id, friend_id, created_at_ms, accepted_at_ms, updated_at_ms) VALUES ($1, $2, 0, 0, 0)
"""


def _agents(count: int) -> Case:
    options: Options = {
        "traffic": "agents",
        "users": count,
        "conversations": max(2, count // 50),
        "rate": 200.0,
    }
    return Case("agents", "statuses of game servers", "message", options)


def _opening(_size: int) -> Case:
    # What is written straight into the database must not be in the server's memory yet, so the plan has hardly a
    # conversation.
    options: Options = {"traffic": "idle", "users": 600, "conversations": 1, "members": 2, "friends": 0}
    return Case("open", "opening sockets", "opening", options)


GROWTHS = (
    Growth(
        "members",
        "a message to all who listen in a group, by members",
        lambda size: Case("members", "", "message", fanout(size, 1)),
        (10, 100, 1_000),
        most=1.05,
    ),
    Growth(
        "rooms",
        "a message in a room of two, by rooms with both there",
        lambda size: Case("rooms", "", "message", {**pairs(2 * size), "window": 64}),
        (90, 900, 9_000),
    ),
    Growth(
        "stored",
        "a message over REST, by messages stored",
        lambda _size: Case("post", "", "request", rest("post")),
        (100_000, 1_000_000, 10_000_000),
        fill=stored_messages,
    ),
    Growth(
        "listed",
        "the newest 50 messages, by messages stored",
        lambda _size: Case("list", "", "request", rest("list"), messages=LIST_LENGTH),
        (100_000, 1_000_000, 10_000_000),
        fill=stored_messages,
    ),
    Growth(
        "friends",
        "opening a socket, by friends, who are told of it",
        _opening,
        (4, 40, 400),
        most=1.05,
        fill=befriended,
    ),
    Growth("agents", "a status of a game server, by servers with a stream", _agents, (50, 500, 5_000)),
    Growth(
        "sockets",
        "own profile, by sockets that are open beside",
        lambda _size: Case("self", "", "request", rest("self")),
        (150, 1_500, 15_000),
        idle=lambda size: {**pairs(size), "traffic": "idle", "friends": 0},
    ),
)
