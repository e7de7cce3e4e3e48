"""What many open consoles cost the server: sockets that subscribe as consoles do, beside sockets that are only open."""

import secrets
import time
from collections.abc import Sequence

import httpx2
import msgspec
import trio

from actors.ids import new_uuid
from scripts.benchmarks.servers import Server
from scripts.console_budget.place import first_super_admin
from scripts.console_budget.rows import Row
from scripts.load import server_process
from scripts.load.clients.client import NO_CHANNELS, TARGET
from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.websocket import WebSocket, upgrade

EVERYBODY = ("inbox", "friends", "party", "notifications")
"""The channels that the console watches on every page."""

OPERATORS = ("moderation", "metrics", "actors", "servers")
"""The channels that pages for operators watch beside those, each measured by itself."""

OPENING_AT_ONCE = 32
SETTLE_SECONDS = 10.0
MEASURED_SECONDS = 10.0


class Watcher(WebSocket):
    """An open socket that counts what it is sent."""

    received_bytes = 0

    def message(self, payload: bytes) -> None:
        """Count a frame."""
        self.received_bytes += len(payload)

    def lost(self, why: str) -> None:
        """Fail, as the figures are about sockets that stay open."""
        if why != "done":
            raise ConnectionError(f"a socket was lost: {why}")

    def watch(self, channels: Sequence[str]) -> None:
        """Subscribe, as the console does."""
        for channel in channels:
            self.say(msgspec.json.encode({"id": 1, "op": "subscribe", "channel": channel, "params": {}}))

    def leave(self, channels: Sequence[str]) -> None:
        """Unsubscribe from channels."""
        for channel in channels:
            self.say(msgspec.json.encode({"id": 2, "op": "unsubscribe", "channel": channel}))


async def watchers(server: Server, count: int) -> list[Row]:
    """Memory and CPU of so many sockets that watch nothing, then a console's channels, then also those of operators."""
    tokens = await _super_admins(server, count)
    rows: list[Row] = []
    loop = EventLoop()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(loop.run)
        empty_bytes = _memory(server)
        open_ones = await _opened(server, loop, tokens)
        plain_bytes, plain_cpu, _ = await _measured(server, open_ones)
        rows.append(
            _told(f"{count:,} sockets that watch nothing", plain_bytes - empty_bytes, plain_cpu, 0, count)
        )
        before_bytes = plain_bytes
        for channels in (EVERYBODY, *((channel,) for channel in OPERATORS)):
            for one in open_ones:
                one.watch(channels)
            used_bytes, cpu, sent = await _measured(server, open_ones)
            rows.append(_told(f"and {', '.join(channels)}", used_bytes - before_bytes, cpu, sent, count))
            if channels == EVERYBODY:
                before_bytes = used_bytes
            else:
                for one in open_ones:
                    one.leave(channels)
        nursery.cancel_scope.cancel()
    return rows


def _told(what: str, more_bytes: int, cpu: float, sent: float, count: int) -> Row:
    each = (
        f"{more_bytes / count / 1024:+.1f} KB each, {cpu * 100:.1f} % of a core, {sent / 1000:.1f} KB/s sent"
    )
    return Row(what, each, "", True)


def _memory(server: Server) -> int:
    return server_process.memory_bytes(server.pid) or 0


async def _opened(server: Server, loop: EventLoop, tokens: Sequence[str]) -> list[Watcher]:
    room = trio.CapacityLimiter(OPENING_AT_ONCE)
    found: list[Watcher] = []

    async def open_one(token: str) -> None:
        async with room:
            address = ("127.0.0.1", server.port)
            sock, rest = await upgrade(address, f"127.0.0.1:{server.port}", TARGET + NO_CHANNELS, token)
            found.append(Watcher(loop, sock, rest))

    async with trio.open_nursery() as nursery:
        for token in tokens:
            nursery.start_soon(open_one, token)
    return found


async def _measured(server: Server, sockets: Sequence[Watcher]) -> tuple[int, float, float]:
    """(memory in bytes, cores used, bytes sent a second), once everything has settled."""
    await trio.sleep(SETTLE_SECONDS)
    cpu_before, sent_before = server_process.cpu_ns(server.pid), sum(one.received_bytes for one in sockets)
    began = time.monotonic()
    await trio.sleep(MEASURED_SECONDS)
    seconds = time.monotonic() - began
    cpu = (server_process.cpu_ns(server.pid) - cpu_before) / 1e9 / seconds
    sent = (sum(one.received_bytes for one in sockets) - sent_before) / seconds
    return _memory(server), cpu, sent


async def _super_admins(server: Server, count: int) -> list[str]:
    """Tokens of so many super-admins, who may watch everything."""
    root = await trio.to_thread.run_sync(first_super_admin, server)
    headers = {"authorization": f"Bearer {root}"}
    tokens: list[str] = []
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", timeout=60) as http:
        for number in range(count):
            id = new_uuid(secrets.token_bytes)
            tokens.append(server.sign(id, f"Watcher {number}", int(time.time())))
            own = {"authorization": f"Bearer {tokens[-1]}"}
            (await http.get("/v1/auth/verify", headers=own)).raise_for_status()
            role = f"/v1/admin/users/{id}/roles/super-admin"
            (await http.put(role, json={}, headers=headers)).raise_for_status()
    return tokens
