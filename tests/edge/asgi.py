"""One request to an ASGI application, without a server between."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote


@dataclass
class Answered:
    """A response, whole.

    Args:
        status: of it.
        headers: {lower-case name: value}.
        body: of it.
    """

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        assert self.headers["content-type"] == "application/problem+json"
        assert self.json["status"] == self.status
        return str(self.json["code"])


def scope_of(method: str, target: str, headers: dict[str, str], *, peer: str, kind: str) -> dict[str, Any]:
    path, _, query = target.partition("?")
    return {
        "type": kind,
        "asgi": {"spec_version": "2.3", "version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http" if kind == "http" else "ws",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), text.encode("latin-1")) for name, text in headers.items()],
        "client": (peer, 50_000) if peer else None,
        "server": ("127.0.0.1", 8080),
        "subprotocols": [],
        "state": {},
        "extensions": {"websocket.http.response": {}},
    }


async def request(
    app: Any,
    method: str,
    target: str,
    body: object = b"",
    *,
    token: str | None = None,
    peer: str = "198.51.100.1",
    chunks: Sequence[bytes] | None = None,
    websocket: bool = False,
    **headers: str,
) -> Answered:
    """Send a request. A body that is no bytes goes as JSON; `x_y` is the header X-Y."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    if token is not None:
        named["authorization"] = f"Bearer {token}"
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
        named.setdefault("content-type", "application/json")
    pieces = [body] if chunks is None else list(chunks)
    if chunks is None and body:
        named.setdefault("content-length", str(len(body)))
    kind = "websocket" if websocket else "http"
    events: list[dict[str, Any]] = [
        {"type": "http.request", "body": piece, "more_body": number + 1 < len(pieces)}
        for number, piece in enumerate(pieces)
    ]
    if websocket:
        events = [{"type": "websocket.connect"}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return events.pop(0) if events else {"type": f"{kind}.disconnect", "code": 1006}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope_of(method, target, named, peer=peer, kind=kind), receive, send)
    head = sent[0]
    if head["type"] == "websocket.accept":
        return Answered(101, {**dict(_pairs(head)), "subprotocol": str(head["subprotocol"])}, b"")
    names = [name for name, _ in _pairs(head)]
    assert len(names) == len(set(names)), f"a header is sent twice: {names}"
    return Answered(head["status"], dict(_pairs(head)), b"".join(part["body"] for part in sent[1:]))


def _pairs(head: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name.decode(), text.decode("latin-1")) for name, text in head["headers"]]
