"""One signed-in user who does everything that costs, as fast as they are let, from many connections at once."""

import base64
import os
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import trio

from scripts.hostile.strangers import hostile_bodies
from scripts.hostile.wire import Line, Lost
from scripts.load.clients.event_loop import connect
from scripts.load.clients.http import request
from scripts.load.clients.websocket import UpgradeRefused, client_frame, upgrade

CHATS = "/v1/social/chat/conversations"
UPLOAD_BYTES = 8 * 1024 * 1024
SLOW_READERS = 100
SOCKETS = 10
CONNECTIONS = 4  # connections that do each thing at the same time
PAUSE_SECONDS = 0.01
_PING = 9
_UPLOAD_HEAD = b'{"fileName":"a.bin","contentType":"application/octet-stream","dataBase64":"'


class Offender:
    """The user, and what their requests were answered with.

    Args:
        address, host: the server's (IP address, port), and the Host field.
        token: the user's access token.
        conversation: the id of one of their conversations.
        others: ids of other users.
        server: the address of a game server of theirs; "" when none could be made.
    """

    def __init__(
        self,
        address: tuple[str, int],
        host: str,
        token: str,
        *,
        conversation: str,
        others: tuple[str, ...],
        server: str,
    ) -> None:
        self._address, self._host, self._token = address, host, token
        self._conversation, self._others, self._server = conversation, others, server
        self._rooms = [conversation]
        self._bodies = list(hostile_bodies(60_000).values())
        self.answers: Counter[str] = Counter()
        """{what was done and how it was answered: how often}"""

    async def rage(self) -> None:
        """Do all of it at once until cancelled; connections are closed then."""
        async with trio.open_nursery() as nursery:
            for deed in (self._upload, self._post, self._group, self._list, self._profile, self._malformed):
                for _ in range(CONNECTIONS):
                    nursery.start_soon(self._again, deed)
            if self._server:
                for deed in (self._settings, self._history):
                    nursery.start_soon(self._again, deed)
            for number in range(SOCKETS):
                nursery.start_soon(self._socket, number)
            for _ in range(SLOW_READERS):
                nursery.start_soon(self._never_read)

    async def _again(self, deed: Callable[[Line], Awaitable[int]]) -> None:
        what = deed.__name__.strip("_")
        with Line(self._address, self._host, self._token) as line:
            while True:
                try:
                    self.answers[f"{what} {await deed(line)}"] += 1
                except Lost:
                    self.answers[f"{what} lost"] += 1
                await trio.sleep(PAUSE_SECONDS)

    async def _upload(self, line: Line) -> int:
        # Put together from pieces, as that is cheap: on a shared machine its CPU time would be the server's loss.
        body = _UPLOAD_HEAD + base64.b64encode(os.urandom(3)) * (UPLOAD_BYTES // 3) + b'"}'
        return await self._send_json(line, f"{CHATS}/{self._conversation}/attachments", body)

    async def _post(self, line: Line) -> int:
        room = self._rooms[os.urandom(1)[0] % len(self._rooms)]
        status, _ = await line.ask("POST", f"{CHATS}/{room}/messages", {"content": "\U0001f600" * 4000})
        return status

    async def _group(self, line: Line) -> int:
        some = [one for one in self._others if os.urandom(1)[0] & 1] or list(self._others[:2])
        body = {"kind": "group", "participantIds": some, "title": os.urandom(8).hex()}
        status, answer = await line.ask("POST", CHATS, body)
        if status < 300:
            self._rooms.append(answer.split(b'"id":"', 1)[1][:24].decode())
        return status

    async def _list(self, line: Line) -> int:
        return (await line.ask("GET", f"{CHATS}/{self._conversation}/messages?limit=120"))[0]

    async def _profile(self, line: Line) -> int:
        body = {"uiStyle": {"syncEnabled": True, "source": "a", "payload": {"a": "x" * 60_000}}}
        return (await line.ask("PATCH", "/v1/profile/settings", body))[0]

    async def _malformed(self, line: Line) -> int:
        body = self._bodies[os.urandom(1)[0] % len(self._bodies)]
        return await self._send_json(line, f"{CHATS}/{self._conversation}/messages", body)

    async def _send_json(self, line: Line, target: str, body: bytes) -> int:
        head = request("POST", target, host=self._host, token=self._token)
        fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        return (await line.send(head.replace(b"Content-Length: 0\r\n\r\n", fields) + body))[0]

    async def _settings(self, line: Line) -> int:
        options = [f"option {n}" for n in range(200)]
        names = [f"field{n}" for n in range(8)]
        fields: list[dict[str, Any]] = [{"key": name, "type": "list", "options": options} for name in names]
        fields.append({"key": "nonce", "type": "string"})
        body: dict[str, Any] = {
            "schemaVersion": "1",
            "source": "siege",
            "schema": {"fields": fields, "version": "1"},
            "data": {name: [options[-1]] * 300 for name in names} | {"nonce": os.urandom(8).hex()},
        }
        return (await line.ask("PUT", f"{self._server}/settings", body))[0]

    async def _history(self, line: Line) -> int:
        return (await line.ask("GET", f"{self._server}/settings/history?limit=100"))[0]

    async def _socket(self, number: int) -> None:
        """Subscribe, leave, ping and send broken messages on a live socket, without reading."""
        while True:
            try:
                sock, _ = await upgrade(self._address, self._host, "/v1/social/live", self._token)
            except (OSError, UpgradeRefused):
                self.answers["socket refused"] += 1
                await trio.sleep(1)
                continue
            with sock:
                frames = self._frames(number)
                await _flood(sock, frames, PAUSE_SECONDS)
            self.answers["socket closed"] += 1

    def _frames(self, number: int) -> bytes:
        channel = f"conversation:{self._conversation}".encode()
        subscribe = b'{"id":1,"op":"subscribe","channel":"%b","since":{"epoch":"x","offset":0}}' % channel
        leave = b'{"id":2,"op":"unsubscribe","channel":"%b"}' % channel
        kinds = (
            client_frame(subscribe) + client_frame(leave),
            client_frame(b"", _PING) * 500,
            client_frame(self._bodies[number % len(self._bodies)]),
            client_frame(b'{"id":1e999,"op":"ping"}'),
        )
        return kinds[number % len(kinds)]

    async def _never_read(self) -> None:
        """Ask for the largest page again and again, and take nothing."""
        what = request(
            "GET", f"{CHATS}/{self._conversation}/messages?limit=120", host=self._host, token=self._token
        )
        while True:
            try:
                sock = await connect(self._address)
            except OSError:
                await trio.sleep(1)
                continue
            with sock:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
                await _flood(sock, what, 1)


async def _flood(sock: socket.socket, data: bytes, pause_seconds: float) -> None:
    """Send the same again and again, whatever the socket takes of it, until the server has closed it."""
    rest = memoryview(data)
    while True:
        try:
            rest = rest[sock.send(rest) :] or memoryview(data)
        except BlockingIOError:
            with trio.move_on_after(1):
                await trio.lowlevel.wait_writable(sock)
        except OSError:
            return
        await trio.sleep(pause_seconds)
