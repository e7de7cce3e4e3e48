"""Cloudflare's API as a real HTTP server for tests: tokens, zones and records, and answers that go wrong."""

import contextlib
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import trio

ZONE = "0123456789abcdef0123456789abcdef"
CANARY = "canary-token-Zq8Xw2"


@dataclass
class Hold:
    """Requests wait until they are released.

    Args:
        reached: set when one has come.
    """

    reached: trio.Event = field(default_factory=trio.Event)
    release: trio.Event = field(default_factory=trio.Event)


@dataclass
class CloudflareStub:
    """One account.

    Args:
        tokens: {token: its status}.
        zones: {zone id: name}.
        unreadable: zones that no token may read.
        records: {zone id: [record]}.
        wrong: what every request is answered with: `500`, `html`, `slow`, `redirect`, `huge`, `deep`, `deep result`,
            `refuse`, or None.
        held: {token: how what is asked with it is held up}.
        asked: (method, path) of every request.
    """

    tokens: dict[str, str] = field(default_factory=lambda: {CANARY: "active"})
    zones: dict[str, str] = field(default_factory=lambda: {ZONE: "example.com"})
    unreadable: set[str] = field(default_factory=set)
    permissions: list[str] = field(default_factory=lambda: ["#dns_records:edit", "#zone:read"])
    records: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {ZONE: []})
    wrong: str | None = None
    wrong_writes: bool = False
    held: dict[str, "Hold"] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """As in PARTYLINE_CLOUDFLARE_URL."""
        return f"http://127.0.0.1:{self.port}/client/v4"

    def contents(self, type: str, name: str) -> list[str]:
        """What the records at a name say."""
        return sorted(
            one["content"] for one in self.records[ZONE] if (one["type"], one["name"]) == (type, name)
        )

    async def serve(self, task_status: trio.TaskStatus[None]) -> None:
        """Run until cancelled."""
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, self._connection, listeners)
            task_status.started()

    async def _connection(self, stream: trio.SocketStream) -> None:
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            data = b""
            while b"\r\n\r\n" not in data:
                more = await stream.receive_some()
                if not more:
                    return
                data += more
            head, _, body = data.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            headers = {line.split(":")[0].lower(): line.split(":", 1)[1].strip() for line in lines[1:]}
            while len(body) < int(headers.get("content-length", "0")):
                body += await stream.receive_some()
            method, target, _ = lines[0].split(" ")
            self.asked.append((method, target))
            hold = self.held.get(headers.get("authorization", "").removeprefix("Bearer "))
            if hold is not None:
                hold.reached.set()
                await hold.release.wait()
            wrong = self.wrong if method == "GET" or not self.wrong_writes else "500"
            if wrong == "slow":
                await trio.sleep_forever()
            status, kind, answer = self._wrong(wrong) or self._answer(method, target, headers, body)
            location = "location: http://127.0.0.1:1/\r\n" if status.startswith("3") else ""
            reply = (
                f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{location}content-length: {len(answer)}\r\n"
                "connection: close\r\n\r\n"
            )
            await stream.send_all(reply.encode() + answer)
            await stream.aclose()

    def _wrong(self, wrong: str | None) -> tuple[str, str, bytes] | None:
        match wrong:
            case "500":
                return "500 No", "application/json", b'{"success":false,"errors":[]}'
            case "html":
                return "200 OK", "text/html", b"<html>hello</html>"
            case "redirect":
                return "302 Found", "text/html", b""
            case "huge":
                return "200 OK", "application/json", b" " * (2 * 1024 * 1024 + 1) + b'{"success":true}'
            case "deep":
                return "200 OK", "application/json", b"[" * 200_000
            case "deep result":
                return "200 OK", "application/json", b'{"success":true,"result":{"id":' + b"[" * 200_000
            case "refuse":
                return _json("200 OK", {"success": False, "errors": [{"code": 9999}], "result": None})
            case _:
                return None

    def _answer(
        self, method: str, target: str, headers: dict[str, str], body: bytes
    ) -> tuple[str, str, bytes]:
        split = urlsplit(target)
        path, query = split.path.removeprefix("/client/v4"), dict(parse_qsl(split.query))
        token = headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.tokens:
            return _json("401 Unauthorized", {"success": False, "errors": [{"code": 1000, "message": token}]})
        if path == "/user/tokens/verify":
            return _ok({"id": "t", "status": self.tokens[token]})
        form = re.fullmatch(r"/zones/([0-9a-f]{32})(/dns_records(?:/(\w+))?)?", path)
        if form is None or form[1] not in self.zones:
            return _json("404 Not Found", {"success": False, "errors": [{"code": 7003}]})
        if form[1] in self.unreadable:
            return _json("403 Forbidden", {"success": False, "errors": [{"code": 9109}]})
        if form[2] is None:
            zone = {"id": form[1], "name": self.zones[form[1]], "permissions": self.permissions}
            return _ok(zone)
        return self._records(method, self.records[form[1]], form[3], query, body)

    def _records(
        self, method: str, records: list[dict[str, Any]], id: str | None, query: dict[str, str], body: bytes
    ) -> tuple[str, str, bytes]:
        if method == "GET":
            return _ok(
                [one for one in records if (one["type"], one["name"]) == (query["type"], query["name"])]
            )
        if method == "POST":
            record = {"id": f"{len(self.asked):032x}", **json.loads(body)}
            records.append(record)
            return _ok(record)
        (record,) = [one for one in records if one["id"] == id]
        if method == "DELETE":
            records.remove(record)
        else:
            record.update(json.loads(body))
        return _ok({"id": id})


def _ok(result: object) -> tuple[str, str, bytes]:
    return _json("200 OK", {"success": True, "errors": [], "result": result})


def _json(status: str, value: object) -> tuple[str, str, bytes]:
    return status, "application/json", json.dumps(value).encode()
