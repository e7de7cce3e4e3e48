"""Whether what clients have seen of one conversation can be explained by a log to which one message after the other
was appended, each at one moment between its sending and its acknowledgement: linearizability of an append-only log.

The order of the log is known, so no order has to be searched for, and these pairs are all that there is to look at:

    a was acknowledged before b was sent        a stands before b
    a was acknowledged before a read began      it shows a, or begins after it
    a was sent after a read had ended           it does not show a
    a read ended before another one began       that one does not end before it
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

NEVER = float("inf")


@dataclass
class Posted:
    """A message as its writer knows it.

    Args:
        client_id: by which it is repeated.
        sent_ns: when it was first sent.
        acked_ns: when it was acknowledged; `NEVER` when it was not.
        id: under which it was acknowledged.
    """

    client_id: str
    sent_ns: float
    acked_ns: float = NEVER
    id: str = ""


@dataclass(frozen=True)
class Read:
    """The newest messages, as one request showed them.

    Args:
        asked_ns, answered_ns: when it began and ended.
        ids: of the messages, oldest first.
    """

    asked_ns: float
    answered_ns: float
    ids: tuple[str, ...]


@dataclass
class Heard:
    """What one subscriber was told.

    Args:
        ids: of the messages, in the order of their events.
        wrong: what should not have come.
    """

    ids: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Stored:
    """A message as it is there in the end."""

    id: str
    client_id: str


def faults_of(
    log: Sequence[Stored],
    posted: Mapping[str, Posted],
    reads: Sequence[Read] = (),
    subscribers: Sequence[Heard] = (),
) -> list[str]:
    """What does not hold of a conversation, a line each; empty when all does.

    Args:
        log: all that is there in the end, oldest first.
        posted: all that was sent, by client id.
        reads: in any order.
        subscribers: who watched from before the first message on.
    """
    places = {message.id: place for place, message in enumerate(log)}
    found = [f"a subscriber: {wrong}" for heard in subscribers for wrong in heard.wrong]
    if len({message.client_id for message in log}) < len(log):
        found.append("a message is there twice")
    found += [f"{one.client_id} was written by nobody" for one in log if one.client_id not in posted]
    found += _lost(log, posted)
    found += _out_of_order(log, posted)
    for read in reads:
        found += _misread(read, log, places, posted)
    found += _gone_back(reads, places)
    ids = [message.id for message in log]
    found += ["a subscriber heard something else than is there" for heard in subscribers if heard.ids != ids]
    return found


def _lost(log: Sequence[Stored], posted: Mapping[str, Posted]) -> list[str]:
    there = {message.client_id: message.id for message in log}
    acknowledged = [one for one in posted.values() if one.acked_ns < NEVER]
    return [
        f"{one.client_id} was acknowledged as {one.id} and is {there.get(one.client_id, 'lost')}"
        for one in acknowledged
        if there.get(one.client_id) != one.id
    ]


def _out_of_order(log: Sequence[Stored], posted: Mapping[str, Posted]) -> list[str]:
    found = []
    earliest_ack = NEVER
    for message in reversed(log):
        one = posted.get(message.client_id)
        if one is None:
            continue
        if one.sent_ns > earliest_ack:
            found.append(f"{one.client_id} stands before what was acknowledged before it was sent")
        earliest_ack = min(earliest_ack, one.acked_ns)
    return found


def _misread(
    read: Read, log: Sequence[Stored], places: Mapping[str, int], posted: Mapping[str, Posted]
) -> list[str]:
    if any(id not in places for id in read.ids):
        return ["a read showed what is not there in the end"]
    end = places[read.ids[-1]] + 1 if read.ids else 0
    if tuple(one.id for one in log[end - len(read.ids) : end]) != read.ids:
        return ["a read showed another order, or a gap"]
    missed = [
        message.client_id
        for message in log[end:]
        if message.client_id in posted and posted[message.client_id].acked_ns < read.asked_ns
    ]
    early = [
        message.client_id
        for message in log[:end]
        if message.client_id in posted and posted[message.client_id].sent_ns > read.answered_ns
    ]
    return [f"a read missed {id}, acknowledged before it" for id in missed] + [
        f"a read showed {id}, sent after it" for id in early
    ]


def _gone_back(reads: Sequence[Read], places: Mapping[str, int]) -> list[str]:
    """Reads that show less than one that had ended before they began."""
    ends = sorted((one.answered_ns, places.get(one.ids[-1], -1)) for one in reads if one.ids)
    found = []
    furthest, next_end = -1, 0
    for read in sorted(reads, key=lambda one: one.asked_ns):
        while next_end < len(ends) and ends[next_end][0] < read.asked_ns:
            furthest = max(furthest, ends[next_end][1])
            next_end += 1
        if (places.get(read.ids[-1], -1) if read.ids else -1) < furthest:
            found.append("a read showed less than one before it")
    return found
