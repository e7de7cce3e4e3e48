"""Traces and logs, sent to a real collector: what a request sets in motion is one trace, and off there is nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from actors.kernel.activation import Activation
from persistence.bridge.database import Database
from routes.edge.pipeline.dispatch import Edge
from routes.telemetry.records import FAILED, Sender
from tests.friends.play import REQUESTS
from tests.support.world import open_world
from tests.telemetry.collector import PARENT, TRACE, TRACEPARENT, Collector, attributes, collecting


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with collecting() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
        yield found


@pytest.mark.one_node(because="the socket of another node is offered its frames there")
async def test_a_message_is_one_trace_from_its_caller_to_its_fan_out(
    database_url: str, tmp_path: Path, collector: Collector
):
    async with open_world(database_url, tmp_path, otel="traces") as world:
        ann, ben = await world.players("Ann", "Ben")
        room = await ann.talk_to(ben)
        async with ben.live(f"/v1/social/live?channels={room.channel}") as socket:
            await socket.receive_until(type="snapshot")
            answer = await ann.ask("POST", room.messages, {"content": "a secret"}, headers=TRACEPARENT)
            await socket.receive_until(type="snapshot")
    ours = {span.name: span for span in collector.spans if span.trace_id.hex() == TRACE}
    request = ours["POST /v1/social/chat/conversations/{conversationId}/messages"]
    assert (request.parent_span_id.hex(), request.kind) == (PARENT, Span.SPAN_KIND_SERVER)
    said = attributes(request)
    assert (said["http.request.method"], said["http.response.status_code"]) == ("POST", 201)
    assert said["partyline.request.id"] == answer.headers["x-request-id"]
    turn = ours["turn conversation"]
    assert turn.parent_span_id == request.span_id
    assert attributes(turn) == {
        "partyline.actor.kind": "conversation",
        "partyline.actor.id": room.id,
        "partyline.turn.letters": 1,
    }
    assert ours["group commit"].parent_span_id == ours["fan-out"].parent_span_id == turn.span_id
    assert attributes(ours["fan-out"]) == {"partyline.turn.events": 1, "partyline.turn.subscribers": 1}
    assert turn.start_time_unix_nano <= ours["group commit"].start_time_unix_nano
    assert ours["group commit"].end_time_unix_nano <= ours["fan-out"].start_time_unix_nano
    assert ours["fan-out"].end_time_unix_nano <= turn.end_time_unix_nano
    assert attributes(collector.named("GET /v1/social/live"))["http.response.status_code"] == 101
    resource = collector.resources[0]
    assert (resource["service.name"], resource["deployment.environment"]) == ("partyline", "test")
    everything = repr(collector.spans)
    assert "a secret" not in everything and str(ann.token) not in everything


async def test_units_of_work_and_refusals_are_below_their_request(
    database_url: str, tmp_path: Path, collector: Collector
):
    async with open_world(database_url, tmp_path, otel="all") as world:
        ann, ben = await world.players("Ann", "Ben")
        await ann.ask("POST", REQUESTS, {"targetId": ben.id}, headers=TRACEPARENT)
        await ann.ask("GET", "/v1/profile/self", headers={"traceparent": "of no form"})
    ours = [span for span in collector.spans if span.trace_id.hex() == TRACE]
    (request,) = [span for span in ours if span.kind == Span.SPAN_KIND_SERVER]
    units = [span for span in ours if span.name.startswith("transact ")]
    assert units and {span.parent_span_id for span in units} == {request.span_id}
    assert {span.kind for span in units} == {Span.SPAN_KIND_CLIENT}
    own = collector.named("GET /v1/profile/self")
    assert not own.parent_span_id and own.status.code == Status.STATUS_CODE_UNSET


@pytest.mark.one_node(because="each node sends a line that no node says")
async def test_lines_of_the_log_carry_their_trace(database_url: str, tmp_path: Path, collector: Collector):
    before = structlog.get_config()
    async with open_world(database_url, tmp_path, otel="all") as world:
        player = await world.player("Ann")
        log = structlog.get_logger("test")
        log.warning("something", player=player.name, count=3)
        log.warning(FAILED, why="a loop")
    assert structlog.get_config() == before
    (record,) = [one for one in collector.records if one.body.string_value == "something"]
    assert record.severity_text == "warning" and attributes(record) == {"player": "Ann", "count": 3}
    assert not [one for one in collector.records if one.body.string_value == FAILED]


async def test_a_collector_that_is_away_holds_nobody_up(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    async with open_world(database_url, tmp_path, otel="all") as world:
        assert (await (await world.player("Ann")).get("/v1/auth/verify"))["name"] == "Ann"


def test_what_was_raised_is_told_without_values():
    class Kept:
        def emit(self, record: object) -> None:
            self.record = record

    kept = Kept()
    secret = "hidden"
    try:
        raise ValueError(f"of {len(secret)}")
    except ValueError:
        Sender(kept)(None, "exception", {"event": "it failed", "exc_info": True})  # type: ignore[arg-type]
    found = kept.record.attributes  # type: ignore[attr-defined]
    assert found["exception.type"] == "ValueError" and "of 6" in found["exception.stacktrace"]
    assert secret not in found["exception.stacktrace"].replace('secret = "hidden"', "")


async def test_off_nothing_is_in_the_way(database_url: str, tmp_path: Path):
    async with open_world(database_url, tmp_path) as world:
        ann, ben = await world.players("Ann", "Ben")
        room = await ann.talk_to(ben)
        await ann.say(room)
        assert type(world.service.database) is Database
        assert world.service.seams.edge is Edge
        owners = world.home("conversation", room.id).system.actors()
        (actor,) = [one for one in owners if one.kind.name == "conversation"]
        assert type(actor.activation) is Activation
