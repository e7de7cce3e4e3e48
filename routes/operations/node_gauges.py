"""Metrics of this node among others: what it owns, its copies of what others own, its links; 0 if it serves alone."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from actors.kernel.nodes.copies import Copies
from actors.kernel.nodes.links import LinkStatistics
from routes.joining import Node
from routes.service import Service


class _Seen(NamedTuple):
    """A node, and its copies of what other nodes own."""

    node: Node
    copies: Copies


_GAUGES: tuple[tuple[str, str, Callable[[_Seen], float]], ...] = (
    ("nodes_linked", "Other nodes that live.", lambda seen: len(seen.node.membership.peers.names)),
    (
        "nodes_heard",
        "Other nodes that are heard.",
        lambda seen: sum(map(seen.node.membership.peers.hears, seen.node.membership.peers.names)),
    ),
    ("node_shards", "Shards that this node owns.", lambda seen: len(seen.node.membership.where.fences)),
    (
        "node_silent_seconds",
        "How long ago this node has said in the database that it lives.",
        lambda seen: seen.node.membership.renewals.silent_seconds,
    ),
    (
        "link_waiting_bytes",
        "What waits for the node that is furthest behind.",
        lambda seen: max(seen.node.membership.peers.links.waiting_bytes().values(), default=0),
    ),
    ("copies", "Owners of other nodes that are shown here.", lambda seen: len(seen.copies)),
    (
        "copies_unsure",
        "Those of them that are not known to be where their owner is.",
        lambda seen: seen.copies.unsure,
    ),
    ("owners_followed", "Owners here that other nodes show.", lambda seen: len(seen.node.far.followed)),
    ("letters_away", "Commands that wait for other nodes.", lambda seen: seen.node.far.under_way),
    (
        "requests_away",
        "Requests that wait for the answer of other nodes.",
        lambda seen: seen.node.passing_on.waiting,
    ),
)

_COUNTERS: tuple[tuple[str, str, Callable[[_Seen], float]], ...] = (
    ("link_batches", "Messages to other nodes.", lambda seen: _links(seen).batches),
    (
        "link_batches_near",
        "Those of them that went over sockets of this machine.",
        lambda seen: 0 if seen.node.near is None else seen.node.near.messages,
    ),
    ("link_entries", "What was said in them.", lambda seen: _links(seen).entries),
    ("link_bytes", "Bytes of them.", lambda seen: _links(seen).bytes),
    ("link_gaps", "How often messages of other nodes were lost.", lambda seen: _links(seen).gaps),
    ("link_dropped", "Messages that were of no use here.", lambda seen: _links(seen).dropped),
    ("turns_told", "Turns that other nodes were told.", lambda seen: seen.node.far.followed.turns),
    (
        "followers_dropped",
        "How often too much waited for a node to tell it of turns.",
        lambda seen: seen.node.far.followed.drops,
    ),
    (
        "copies_renewed",
        "How often a copy had to ask anew: owners moved, rows were changed, or something was missing.",
        lambda seen: seen.copies.renewals,
    ),
    ("requests_passed_on", "Requests that other nodes answered.", lambda seen: seen.node.passing_on.passed),
    (
        "requests_answered_for_others",
        "Requests of other nodes that were answered here.",
        lambda seen: seen.node.passing_on.answered,
    ),
)


def show_node(service: Service) -> None:
    """Register the metrics of this node; their values are read at each scrape."""
    node, copies = service.node, service.system.copies
    seen = None if node is None or copies is None else _Seen(node, copies)
    names = {} if node is None else {node.membership.life.node: 1.0}
    service.metrics.gauges("node", "This node among others, by its name; 1.", "node", lambda: names)
    for name, says, read in _GAUGES:
        service.metrics.gauge(name, says, partial(_read, read, seen))
    for name, says, read in _COUNTERS:
        service.metrics.counter(name, says, partial(_read, read, seen))


def _read(read: Callable[[_Seen], float], seen: _Seen | None) -> float:
    return 0.0 if seen is None else float(read(seen))


def _links(seen: _Seen) -> LinkStatistics:
    return seen.node.membership.peers.links.statistics
