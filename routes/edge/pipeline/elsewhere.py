"""Passes on requests whose actor is owned by another node: whole, to be answered as if they had arrived there.

This node has checked the request's rate, except the rate that is counted by subject where its guard has left that to
the other node. Everything else is done again by the other node's pipeline, with its receipts, guards and long polls.
So a request does the same wherever it comes in, also for a client that repeats it on another node.
"""

import math

import trio

from actors.errors import Elsewhere, Overloaded
from persistence.errors import OutcomeUnknown
from routes.edge.declare.route import Endpoint
from routes.edge.errors import DatabaseDown
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.parts import Parts
from routes.edge.pipeline.passing import Others, Passed

PASSED_MAX = 2
"""How often a request is passed on at most: its actor may move to another node while the request is under way."""

READING = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""


async def answered_elsewhere(
    others: Others,
    call: Call[Parts],
    endpoint: Endpoint,
    incoming: Incoming,
    elsewhere: Elsewhere,
) -> Outgoing:
    """Have a request answered by the node that owns its actor.

    Args:
        others: the other nodes, which carry the request.
        elsewhere: says which node owns the actor.

    Raises:
        Elsewhere: the request cannot be passed on: its handler reads the body itself, or it was passed on too often.
        Overloaded: the other node was not asked; or it does not answer, and nothing can have changed.
        DatabaseDown: the other node does not answer, and the outcome is unknown.

    Cancellation: the other node is told; an effect may have happened.
    """
    if call.data is None or call.times_passed >= PASSED_MAX:
        raise elsewhere
    left = max(0.0, call.until - trio.current_time())
    request = Passed(
        endpoint.line,
        incoming.method,
        incoming.path,
        dict(incoming.parameters),
        incoming.query,
        list(incoming.headers),
        call.data,
        call.client_address,
        call.request_id,
        int(left * 1000),
        call.times_passed + 1,
        elsewhere.shard,
        elsewhere.fence,
        call.uncounted,
    )
    # The other node keeps the deadline, which the request itself may extend there by waiting for something.
    call.deadline.move(math.inf)
    try:
        outgoing = await others.pass_on(elsewhere.node, request, left, incoming.far_end)
    except OutcomeUnknown:
        if incoming.method in READING:
            raise Overloaded from None
        raise DatabaseDown(
            "the outcome is unknown; repeat the request with the same key", outcome="unknown"
        ) from None
    if outgoing.header(b"ratelimit") is not None:
        call.decision = None  # a rate that was counted there has the say
    return outgoing
