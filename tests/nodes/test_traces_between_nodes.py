"""A request that is passed on to another node is one trace: what happens there is below the span of the first node."""

from pathlib import Path

import pytest

from persistence.nodes.shards import shard_of
from tests.support.cluster import open_cluster
from tests.support.nats import NatsServer
from tests.telemetry.collector import PARENT, TRACE, TRACEPARENT, collecting

pytestmark = pytest.mark.slow


async def test_a_trace_goes_on(
    database_url: str, tmp_path: Path, nats: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        async with open_cluster(database_url, tmp_path, nats, "a", "b", otel="traces") as cluster:
            ann, ben = await cluster.worlds["a"].players("Ann", "Ben")
            room = await ann.talk_to(ben)
            shard = shard_of("conversation", room.id)
            other = next(
                name for name, one in cluster.worlds.items() if shard not in one.service.placement.held()
            )
            await cluster.at(ann, other).ask("POST", room.messages, {"content": "hi"}, headers=TRACEPARENT)
    ours = [span for span in collector.spans if span.trace_id.hex() == TRACE]
    (first,) = [span for span in ours if span.parent_span_id.hex() == PARENT]
    (passed,) = [span for span in ours if span.name == first.name and span.parent_span_id == first.span_id]
    (turn,) = [span for span in ours if span.name == "turn conversation"]
    assert turn.parent_span_id == passed.span_id
