"""The series of numbers that the service keeps of itself: their names, units and meanings."""

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Series:
    """One series.

    Args:
        unit: `per second`, `ms`, `bytes`, `percent`, `seconds` or `count`.
        says: what the numbers are, a sentence.
    """

    unit: str
    says: str


def _per_second(says: str) -> Series:
    return Series("per second", says)


def _count(says: str) -> Series:
    return Series("count", says)


def _bytes(says: str) -> Series:
    return Series("bytes", says)


SERIES = MappingProxyType(
    {
        "requestsOk": _per_second("Requests answered with 2xx or 3xx."),
        "requestsRefused": _per_second("Requests answered with 4xx, but 429."),
        "requestsLimited": _per_second("Requests answered with 429."),
        "requestsFailed": _per_second("Requests answered with 5xx."),
        "latencyP50": Series("ms", "Half of the requests were quicker; null without requests."),
        "latencyP99": Series("ms", "Of 100 requests 99 were quicker; null without requests."),
        "sockets": _count("Open live sockets."),
        "actors": _count("Live actors and views."),
        "users": _count("Users in memory."),
        "turns": _per_second("Turns that actors took."),
        "letters": _per_second("Commands decided in those turns."),
        "mailbox": _count("Commands that are queued."),
        "activations": _per_second("Actors that became live."),
        "restarts": _per_second("Actors that a fault ended."),
        "overdue": _per_second("Callers told that their deadline had passed."),
        "frames": _per_second("Frames offered to sockets."),
        "framesSkipped": _per_second("Subscribers that fell behind."),
        "commits": _per_second("Transactions of the writer."),
        "commitsTurns": _per_second("Turns in those transactions."),
        "writerQueue": _count("Turns in front of the writer."),
        "databaseAvailable": _count("1 while PostgreSQL answers, else 0."),
        "databaseConnections": _count("Open connections of the pool."),
        "databaseIdle": _count("Connections of the pool without work."),
        "jobFailures": _per_second("Runs of jobs that failed."),
        "jobBehind": Series("seconds", "How late the latest job is."),
        "memory": _bytes("Memory of the process."),
        "cpu": Series("percent", "Processor time of the process; 100 is one core."),
        "unsent": _bytes("Bytes that clients have not taken yet."),
        "slowConnections": _count("Connections for which bytes wait."),
        "arriving": _bytes("Bytes of bodies that arrive, or are worked on."),
        "socketQueues": _bytes("Frames that wait in live sockets."),
        "replay": _bytes("Events held in memory for clients that come back."),
        "journal": _bytes("Events of all actors on disk."),
    }
)
"""{name on the wire: the series}, in the order in which they are shown."""
