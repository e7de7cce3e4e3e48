"""A collector of OpenTelemetry on the loopback: takes OTLP over HTTP and keeps what came."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
"""What a caller sends whose request is part of a trace."""


class Collector:
    """What has come.

    Args:
        url: what `OTEL_EXPORTER_OTLP_ENDPOINT` is set to.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Any] = []
        self.records: list[Any] = []
        self.resources: list[Any] = []

    def named(self, name: str) -> Any:
        """The one span with this name."""
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def take(self, path: str, data: bytes) -> None:
        """One request of an exporter."""
        if path == "/v1/traces":
            traces = ExportTraceServiceRequest.FromString(data)
            for one in traces.resource_spans:
                self.resources.append(attributes(one.resource))
                self.spans += [span for scope in one.scope_spans for span in scope.spans]
        else:
            logs = ExportLogsServiceRequest.FromString(data)
            self.records += [
                record
                for one in logs.resource_logs
                for scope in one.scope_logs
                for record in scope.log_records
            ]


def attributes(of: Any) -> dict[str, Any]:
    """{name: value} of a span, a record or a resource."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in of.attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that listens for the block."""
    collector = Collector("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            is_packed = self.headers.get("content-encoding") == "gzip"
            collector.take(self.path, gzip.decompress(data) if is_packed else data)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
