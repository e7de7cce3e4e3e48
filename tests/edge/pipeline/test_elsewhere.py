"""Requests whose owner another node has: when they go there, with what, and what their client is told."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.errors import ConversationNotFound, Elsewhere
from routes.edge import policies
from routes.edge.deadline import Deadline
from routes.edge.declare.mounts import RouteTable
from routes.edge.incoming import FarEnd, Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.dispatch import Edge
from routes.edge.pipeline.passing import FarClient, Passed
from tests.edge.parts import Parts
from tests.edge.sample import Call, add_part

THING = "aaaa0000aaaa0000aaaa0000"
BODY = b'{"name": "x"}'


@dataclass
class Others:
    """Other nodes that answer all alike, and note what they were asked."""

    answer: Outgoing = field(default_factory=lambda: Outgoing(201, [], b"{}"))
    passed: list[Passed] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    is_sure: bool = True
    renews: bool = True

    async def wait_sure(self) -> bool:
        await trio.sleep(1)
        return self.renews

    async def pass_on(self, node: str, request: Passed, seconds: float, far_end: FarEnd | None) -> Outgoing:
        assert node == "b"
        self.passed.append(request)
        self.seconds.append(seconds)
        return Outgoing(self.answer.status, list(self.answer.headers), self.answer.body)


def leaving(call: Call, *, thing_id: str) -> None:
    """A guard that has nothing in memory, of a thing that node `b` has."""
    if call.leaves:
        raise Elsewhere("b", 1, 1)
    if not thing_id.startswith("aaaa"):
        raise ConversationNotFound


async def asking(call: Call, **_: Any) -> None:
    """A handler that asks the owner, which node `b` has."""
    raise Elsewhere("b", 1, 1)


def edge_of(parts: Parts, others: Others, **changes: Any) -> tuple[Edge, Any]:
    parts.others = others  # type: ignore[assignment]
    endpoint = replace(add_part, guard=leaving, handler=asking, **changes)
    return Edge(parts, RouteTable((endpoint,))), endpoint  # type: ignore[arg-type]


def incoming(
    body: bytes | None = BODY,
    *,
    thing: str = THING,
    media: bytes = b"application/json",
    late: float = 0,
    length: int | None = None,
    expect: bool = False,
) -> Incoming:
    """Ann's request; a body that is late does not come with the head."""
    more = [] if length is None else [(b"content-length", str(length).encode())]
    more += [(b"expect", b"100-continue")] if expect else []

    async def receive() -> tuple[bytes, bool]:
        await trio.sleep(late)
        return body or b"", False

    return Incoming(
        "POST",
        f"/v1/things/{thing}/parts",
        {"thingId": thing},
        query=b"",
        headers=[(b"authorization", b"Bearer ann"), (b"content-type", media), *more],
        peer="198.51.100.1",
        receive=receive,
        whole=None if late else body,
    )


async def test_a_guard_leaves_the_request_with_its_body_as_it_came(parts: Parts) -> None:
    """What is wrong with the body the owner's node says, once it knows whether the client belongs there."""
    others = Others()
    edge, endpoint = edge_of(parts, others)
    for body, media in ((BODY, b"application/json"), (b"{" * 201, b"text/plain"), (b"", b"")):
        answer = await edge.answer(endpoint, incoming(body, media=media))
        assert answer.status == 201
        assert (others.passed[-1].body, others.passed[-1].uncounted) == (body, True)


async def test_a_small_body_on_its_way_is_waited_for(parts: Parts, autojump_clock: MockClock) -> None:
    others = Others()
    edge, endpoint = edge_of(parts, others)
    answer = await edge.answer(endpoint, incoming(late=20, length=len(BODY)))
    assert (answer.status, others.passed[0].body, others.passed[0].uncounted) == (201, BODY, True)
    # The arrival of a body does not count, at either node.
    assert others.seconds == [parts.config.request_seconds] == [others.passed[0].left_ms / 1000]


@pytest.mark.parametrize("fields", [{}, {"length": len(BODY), "expect": True}])
async def test_a_body_that_is_to_be_invited_is_so_behind_the_guard(
    parts: Parts, autojump_clock: MockClock, fields: dict[str, Any]
) -> None:
    others = Others()
    edge, endpoint = edge_of(parts, others)
    stranger = await edge.answer(endpoint, incoming(late=1, thing="bbbb0000aaaa0000aaaa0000", **fields))
    assert (stranger.status, others.passed, trio.current_time()) == (404, [], 0)
    await edge.answer(endpoint, incoming(late=20, **fields))
    assert not others.passed[0].uncounted, "counted here, behind the guard"
    assert others.seconds == [parts.config.request_seconds]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"rate": policies.SERVER}, id="nothing counts it before the guard"),
        pytest.param({"max_bytes": 1024 * 1024}, id="its body may be large"),
        pytest.param({"method": "GET"}, id="it reads"),
    ],
)
async def test_a_guard_keeps_what_is_not_to_be_left(parts: Parts, changes: dict[str, Any]) -> None:
    others = Others()
    edge, endpoint = edge_of(parts, others, **changes)
    await edge.answer(endpoint, incoming(thing="bbbb0000aaaa0000aaaa0000"))
    assert others.passed == []


async def test_what_the_other_node_has_counted_is_said_once(parts: Parts) -> None:
    said = [(b"ratelimit-policy", b'"kept-answers"'), (b"ratelimit", b'"kept-answers";r=0;t=9')]
    edge, endpoint = edge_of(
        parts, Others(Outgoing(429, said, b"{}")), rate=policies.USER_WRITE, rate_key=None
    )
    answer = await edge.answer(endpoint, incoming())
    assert [text for name, text in answer.headers if name.startswith(b"ratelimit")] == [
        text for _, text in said
    ]


async def test_the_owners_node_counts_what_was_not(parts: Parts) -> None:
    edge = Edge(parts, RouteTable((add_part,)))  # type: ignore[arg-type]
    for uncounted, times, left in ((True, 1, b"29"), (True, 2, b"28"), (False, 1, None), (True, 1, b"27")):
        request = passed(times=times, uncounted=uncounted)
        answer = await edge.answer_passed(request, Deadline(trio.current_time() + 5), FarClient())
        found = answer.header(b"ratelimit")
        assert found is None if left is None else found is not None and b";r=" + left in found


@pytest.mark.parametrize(("renews", "status"), [(True, 201), (False, 503)])
async def test_a_node_that_stood_still_answers_once_it_has_renewed(
    parts: Parts, autojump_clock: MockClock, renews: bool, status: int
) -> None:
    edge, endpoint = edge_of(parts, Others(is_sure=False, renews=renews))
    assert (await edge.answer(endpoint, incoming())).status == status


async def test_who_has_gone_is_let_go_of_for_good(parts: Parts, autojump_clock: MockClock) -> None:
    """Also where the request waits for a third node by now, whose time is its own."""
    waits = trio.Event()

    class Third(Others):
        async def pass_on(
            self, node: str, request: Passed, seconds: float, far_end: FarEnd | None
        ) -> Outgoing:
            waits.set()
            return await trio.sleep_forever()

    edge, _ = edge_of(parts, Third())
    deadline = Deadline(trio.current_time() + 5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(edge.answer_passed, passed(), deadline, FarClient())
        await waits.wait()
        await trio.sleep(60)
        assert nursery.child_tasks
        deadline.expire()
    assert trio.current_time() == 60
    deadline.move(trio.current_time() + 5)
    assert deadline.has_expired


def passed(*, times: int = 1, uncounted: bool = False) -> Passed:
    """Ann's request, from another node."""
    came = incoming()
    line, id = "POST /v1/things/{thingId}/parts", "r"
    return Passed(
        line, "POST", came.path, {"thingId": THING}, b"", came.headers, b'{"name": "taken"}',
        "198.51.100.1", id, 5000, times, 1, 1, uncounted,
    )  # fmt: skip
