"""The agent: it registers once, keeps its stream open while it runs, and repeats how a command has ended until
Partyline has taken it.

Commands are delivered at least once; by their ids the agent begins none twice.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import httpx2
import msgspec
import trio

from scripts.game_server.actions import ACTIONS, Failed
from scripts.game_server.client import Away, Credentials, Rejected, ask, open_stream, requests_to, understood
from scripts.game_server.keeping import kept_in
from scripts.game_server.pauses import FIRST_SECONDS, Pauses, seconds_after

REMEMBERED = 2_000
"""How many commands that were begun are remembered; beyond that the oldest is forgotten. A server has half as many open
ones at most."""

CLAIM_KEY_SECONDS = 240.0
"""How long a claim key is shown before the next one is fetched: it is valid for five minutes."""

MOST_PAUSE_SECONDS = 30.0

MAX_ERROR_CHARACTERS = 1_000

INTERRUPTED = "the agent ended while it was at it; it may have been done"

OVER = frozenset({404, 409})
"""The status codes that answer an acknowledgement where the command has ended, or is gone."""

T = TypeVar("T")


class Over(Exception):
    """A command has ended meanwhile: it was cancelled, or its time is over."""


@dataclass(frozen=True)
class Plan:
    """How the agent is run.

    Args:
        url: the address of Partyline, without a slash at its end.
        name, server_type: the name and type that the server registers with.
        credentials: the file that the server's credentials are kept in.
        status_seconds: the pause between two status pushes, in seconds.
        action_seconds: how long one action may take; then it is cancelled, and its command has failed. The service does
            not know of an action that hangs: a command that is `running` stays so until its own time is over.
    """

    url: str
    name: str
    server_type: str
    credentials: Path
    status_seconds: float = 30.0
    action_seconds: float = 60.0


class _Registered(msgspec.Struct, rename="camel"):
    server_id: str
    server_secret: str


class _Shown(msgspec.Struct, rename="camel"):
    claimed: bool
    claim_key: str | None = None


class _Page(msgspec.Struct, rename="camel"):
    items: list[dict[str, Any]]
    next_cursor: str | None


class Agent:
    """A game server as Partyline knows it.

    Args:
        plan: how it is run.
        say: called with each line that tells what happens.
    """

    def __init__(self, plan: Plan, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._say = say
        self._begun: dict[str, None] = {}  # ids of commands, the oldest first

    async def run(self) -> None:
        """Work until cancelled.

        Raises:
            Rejected: the credentials are not accepted, or registering is refused.
            Unusable: the file of credentials holds something else, or another agent uses it.
            OSError: the credentials cannot be kept.
        """
        plan = self._plan
        with kept_in(plan.credentials) as kept:
            async with requests_to(plan.url) as http:
                credentials = await kept.credentials(partial(self._register, http))
                http.headers.update(credentials.headers)
                self._say(f"server {credentials.server_id}")
                path = f"/v1/connect/servers/{credentials.server_id}"
                await self._until_answered(partial(self._give_up, http, path))
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._show_claim_keys, http, path)
                    nursery.start_soon(self._push_status, http, path)
                    await self._listen(http, path, credentials, nursery)

    async def _register(self, http: httpx2.AsyncClient) -> Credentials:
        body = {"serverType": self._plan.server_type, "serverName": self._plan.name}

        async def register() -> _Registered:
            return understood(await ask(http, "POST", "/v1/connect/servers/register", body), _Registered)

        made = await self._until_answered(register)
        return Credentials(made.server_id, made.server_secret)

    async def _give_up(self, http: httpx2.AsyncClient, path: str) -> None:
        """Say that the commands which a former run has begun have failed: they are not delivered again."""
        left: list[dict[str, Any]] = []
        cursor: str | None = ""
        while cursor is not None:
            after = f"&cursor={quote(cursor)}" if cursor else ""
            page = understood(
                await ask(http, "GET", f"{path}/commands?status=running&limit=100{after}"), _Page
            )
            left += page.items
            cursor = page.next_cursor
        for command in left:
            with suppress(Over):
                await self._end(http, path, command, _failed("failed", INTERRUPTED))

    async def _show_claim_keys(self, http: httpx2.AsyncClient, path: str) -> None:
        async def read() -> _Shown:
            return understood(await ask(http, "GET", f"{path}/claim-key"), _Shown)

        was_claimed = False
        while True:
            shown = await self._until_answered(read)
            if not shown.claimed:
                self._say(f"claim key {shown.claim_key}")
            elif not was_claimed:
                self._say("claimed")
            was_claimed = shown.claimed
            await trio.sleep(CLAIM_KEY_SECONDS)

    async def _push_status(self, http: httpx2.AsyncClient, path: str) -> None:
        while True:
            body = {
                "online": True,
                "motd": self._plan.name,
                "playerCount": 0,
                "playerCapacity": 20,
            }
            seconds = self._plan.status_seconds
            try:
                await ask(http, "PUT", f"{path}/publication/status", body)
            except Rejected as rejected:
                self._say(f"status not taken: {rejected}")
            except Away as away:  # the next push has newer facts
                seconds = max(seconds, seconds_after(away, 0.0))
            await trio.sleep(seconds)

    async def _listen(
        self, http: httpx2.AsyncClient, path: str, credentials: Credentials, nursery: trio.Nursery
    ) -> None:
        def start(command: dict[str, Any]) -> None:
            nursery.start_soon(self._do, http, path, command)

        pause = FIRST_SECONDS
        while True:
            try:
                async with open_stream(self._plan.url, f"{path}/stream", credentials) as frames:
                    async for frame in frames:
                        pause = FIRST_SECONDS
                        self._hear(frame, start)
            except Away as away:
                seconds = seconds_after(away, pause)
                self._say(f"stream lost ({away}), again in {seconds:.1f} s")
                await trio.sleep(seconds)
            pause = min(2 * pause, MOST_PAUSE_SECONDS)

    def _hear(self, frame: Any, start: Callable[[dict[str, Any]], None]) -> None:
        """Take a frame; one of an unknown kind comes from a newer service, and is ignored."""
        match frame:
            case {"type": "settings_snapshot", "settings": [*all_settings]}:
                self._say("listening")
                for settings in all_settings:
                    self._say(f"settings of {settings['source']}: version {settings['version']}")
            case {"type": "settings_updated", "settings": settings}:
                self._say(f"settings of {settings['source']}: version {settings['version']}")
            case {"type": "command", "command": {"status": "delivered"} as command}:
                if command["id"] not in self._begun:
                    self._begin(command["id"])
                    start(command)
            case {"type": "command", "command": command}:
                self._say(f"command {command['action']} {command['status']}")

    def _begin(self, id: str) -> None:
        self._begun[id] = None
        while len(self._begun) > REMEMBERED:
            del self._begun[next(iter(self._begun))]

    async def _do(self, http: httpx2.AsyncClient, path: str, command: dict[str, Any]) -> None:
        """Do a command, unless it has ended before it is begun; where it ends meanwhile, its next acknowledgement says
        so, and it is left."""
        action = command["action"]
        try:
            end = await self._done(http, path, command)
            await self._end(http, path, command, end)
        except Over as over:
            self._say(f"command {action}: {over}")
        else:
            self._say(f"command {action}: {end['status']}")

    async def _done(self, http: httpx2.AsyncClient, path: str, command: dict[str, Any]) -> dict[str, Any]:
        """Do a command; returns how it has ended, as the body of an acknowledgement."""
        known = ACTIONS.get(command["action"])
        if known is None:
            return _failed("rejected", f"no such action: {command['action']}")

        silent_until = 0.0

        async def progress(percent: float) -> None:
            nonlocal silent_until
            if trio.current_time() < silent_until:
                return
            try:
                await _ack(http, path, command, {"status": "running", "progress": percent})
            except Away as away:  # later progress says more
                silent_until = trio.current_time() + seconds_after(away, 0.0)
            except Rejected:
                return

        await self._until_answered(partial(_ack, http, path, command, {"status": "running"}))
        try:
            with trio.move_on_after(self._plan.action_seconds) as taking:
                result = await known(command["payload"], progress, self._say)
            if taking.cancelled_caught:
                return _failed(
                    "failed", f"not done after {self._plan.action_seconds:g} s; it may be done in part"
                )
            msgspec.json.encode(result)  # raises where it cannot be said
        except Failed as failed:
            return _failed("failed", str(failed))
        except Over:
            raise
        except Exception as fault:  # a mistake in one action must not end the agent
            return _failed("failed", f"a mistake in the agent: {fault!r}")
        else:
            return {"status": "success", "result": result}

    async def _end(
        self, http: httpx2.AsyncClient, path: str, command: dict[str, Any], end: dict[str, Any]
    ) -> None:
        """Say how a command has ended, again and again until Partyline has taken it."""
        try:
            await self._until_answered(partial(_ack, http, path, command, end))
        except Rejected as rejected:  # such as a result that is too large
            self._say(f"not acknowledged: {rejected}")
            end = _failed("failed", f"its end was refused: {rejected}")
            await self._until_answered(partial(_ack, http, path, command, end))

    async def _until_answered(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """What an attempt answers; it is made again for as long as Partyline is away."""
        pauses = Pauses(self._say, MOST_PAUSE_SECONDS)
        while True:
            try:
                return await attempt()
            except Away as away:
                await pauses.after(away)


async def _ack(http: httpx2.AsyncClient, path: str, command: dict[str, Any], body: dict[str, Any]) -> None:
    """Acknowledge a command.

    Raises:
        Over: the command has ended in another way.
        Rejected: Partyline does not take this acknowledgement.
        Away: there is no answer.
    """
    try:
        await ask(http, "POST", f"{path}/commands/{command['id']}/ack", body)
    except Rejected as rejected:
        if rejected.status in OVER:
            raise Over(f"it has ended meanwhile ({rejected})") from None
        raise


def _failed(status: str, error: str) -> dict[str, Any]:
    # The name of a file may hold half characters.
    sayable = error[:MAX_ERROR_CHARACTERS].encode(errors="replace").decode()
    return {"status": status, "error": sayable}
