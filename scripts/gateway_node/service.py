"""What a gateway asks the service: to be registered, and what it is to carry."""

from functools import partial
from typing import TypeVar

import msgspec
import trio

from routes.edge.outgoing_http import Answer, OutgoingFault, Upstream
from scripts.gateway_node.routes import Route

Shape = TypeVar("Shape")

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Of 50,000 routes with the longest names, twice over."""

ANSWER_SECONDS = 45.0
"""For a heartbeat: it may wait for 20 s, and bring megabytes."""

MAX_WAIT_SECONDS = 20

AWAY_SECONDS = 2.0
"""Longest pause where there is no answer: so soon it is heard that the service is back."""


class Identity(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a gateway registers as.

    Args:
        token: the deployment token.
        region: such as `eu-west`.
        public_host, port: where players connect.
        capacity: connections at the same time.
    """

    token: str
    region: str
    public_host: str
    port: int
    capacity: int


class Registered(msgspec.Struct, frozen=True, rename="camel"):
    """What registering has answered."""

    gateway_id: str
    gateway_secret: str
    heartbeat_interval_ms: int


class Heard(msgspec.Struct, frozen=True, rename="camel"):
    """What a heartbeat has answered; `routes` are left out where the revision is known."""

    routes_revision: int
    routes: list[Route] | None = None


class Problem(msgspec.Struct, frozen=True):
    """A refusal of the service."""

    code: str
    message: str


class Rejected(Exception):
    """The service said no, and will say so again until somebody does something about it."""


class Later(Exception):
    """It cannot be done now.

    Args:
        why: for the person at the terminal.
        pause_seconds: longest pause before the next attempt.
        least_seconds: shortest one.
    """

    def __init__(self, why: str, pause_seconds: float = AWAY_SECONDS, least_seconds: float = 0.0) -> None:
        super().__init__(why)
        self.pause_seconds = max(pause_seconds, least_seconds)
        self.least_seconds = least_seconds


class NotCarried(Later):
    """The service has answered, and its routes cannot be put in force now."""


class SecretEnded(Exception):
    """The gateway has to register again."""


class Service:
    """The service, as a gateway knows it.

    Args:
        upstream: to ask.
        identity: to register as.
    """

    def __init__(self, upstream: Upstream, identity: Identity) -> None:
        self._upstream = upstream
        self._identity = identity

    async def register(self) -> Registered:
        """Register; a former secret ends.

        Raises:
            Rejected: not with this token, or not as this.
            Later: there is no answer.
        """
        answer = await self._ask("register", {}, msgspec.json.encode(self._identity))
        if answer.status == 401:
            raise Rejected("the deployment token is another one")
        return await _decoded(answer, Registered)

    async def beat(self, registered: Registered, connections: int, revision: int) -> Heard:
        """Say how the gateway is; the answer may wait until there are other routes.

        Args:
            connections: that it carries.
            revision: of the routes in force; 0 = none that the service has given.

        Raises:
            SecretEnded: see there.
            Rejected: never, by a service of ours.
            Later: there is no answer.
        """
        headers = {
            "authorization": f"Bearer {registered.gateway_secret}",
            "x-gateway-id": registered.gateway_id,
        }
        body = {
            "connections": connections,
            "routesRevision": revision,
            "waitSeconds": min(registered.heartbeat_interval_ms // 1000, MAX_WAIT_SECONDS),
        }
        answer = await self._ask(f"{registered.gateway_id}/heartbeat", headers, msgspec.json.encode(body))
        if answer.status == 401:
            raise SecretEnded
        return await _decoded(answer, Heard)

    async def _ask(self, path: str, headers: dict[str, str], body: bytes) -> Answer:
        """An answer: of success, or 401."""
        sent = {"content-type": "application/json", **headers}
        try:
            answer = await self._upstream.ask(
                "POST", ("v1", "connect", "gateways", *path.split("/")), headers=sent, body=body
            )
        except OutgoingFault:
            raise Later("the service does not answer") from None
        if answer.status == 429:
            raise Later("the service wants fewer requests", least_seconds=_retry_after_seconds(answer))
        if answer.status >= 500:
            raise Later(f"the service answers {answer.status}")
        if answer.status not in {200, 201, 401}:
            raise Rejected(f"the service says no: {_told(answer)}")
        return answer


def service_at(url: str) -> Upstream:
    """The service, to be opened.

    Args:
        url: without a slash at its end.
    """
    return Upstream(url, seconds=ANSWER_SECONDS, max_bytes=MAX_ANSWER_BYTES)


def _retry_after_seconds(answer: Answer) -> float:
    text = answer.header("retry-after") or ""
    return min(float(text), 60.0) if text.isdecimal() and len(text) < 10 else AWAY_SECONDS


def _told(answer: Answer) -> str:
    try:
        problem = msgspec.json.decode(answer.body[:4096], type=Problem)
    except msgspec.DecodeError:
        return str(answer.status)
    return f"{answer.status} {problem.code}, {problem.message}"[:300]


async def _decoded(answer: Answer, kind: type[Shape]) -> Shape:
    """The answer's body, decoded beside the connections that go on meanwhile: it may have megabytes."""
    try:
        return await trio.to_thread.run_sync(partial(msgspec.json.decode, answer.body, type=kind))
    except msgspec.DecodeError:
        raise Later("the service has answered something else than a gateway expects") from None
