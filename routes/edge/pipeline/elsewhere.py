"""A request whose owner lives on another node: it is passed on whole, and answered there as if it had come in there.

This node has checked its rate, but for what is counted by its subject where its guard has left that to the other;
everything else is done again by the other's pipeline, with its receipts, guards and long polls. So a request does the
same wherever it comes in, also for a client that repeats it on another node.
"""

import math

import trio

from actors.errors import Elsewhere, Overloaded
from persistence.errors import OutcomeUnknown
from routes.edge.declare.endpoint import Endpoint
from routes.edge.errors import DatabaseDown
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.parts import Parts
from routes.edge.pipeline.passing import Others, Passed

PASSED_MAX = 2
"""A request goes from node to node at most so often: an owner may move while it is under way."""

READING = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""


async def answered_elsewhere(
    others: Others,
    call: Call[Parts],
    endpoint: Endpoint,
    incoming: Incoming,
    elsewhere: Elsewhere,
) -> Outgoing:
    """Have the node answer a request that has its owner.

    Args:
        others: carry it there.
        elsewhere: that node.

    Raises:
        Elsewhere: it cannot be passed on: its body is read by its handler, or it was passed on too often.
        Overloaded: the other node was not asked; or it does not answer, and nothing can have changed.
        DatabaseDown: it does not answer, and the outcome is unknown.

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
    # The other node knows how long the request may take, which may say itself that it waits for something.
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
