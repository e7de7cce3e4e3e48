"""A gateway's requests to the service: registering, and heartbeats, which bring the routes."""

from typing import TypeVar

import msgspec
import trio

from routes.edge.outgoing_http import Answer, OutgoingFault, Upstream
from routes.edge.outgoing_json import NotUnderstood, decoded
from scripts.gateway_node.routes import Route

Shape = TypeVar("Shape")

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Longest answer: twice that of 50,000 routes with the longest names."""

ANSWER_SECONDS = 45.0
"""How long an answer may take: a heartbeat may wait for 20 s, and bring megabytes."""

MAX_WAIT_SECONDS = 20

AWAY_SECONDS = 2.0
"""Longest pause where there is no answer, so that the return of the service is noticed so soon."""


class Identity(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a gateway registers as.

    Args:
        token: the deployment token.
        region: the region's name, such as `eu-west`.
        public_host, port: the host and port that players connect to.
        capacity: most connections at the same time.
    """

    token: str
    region: str
    public_host: str
    port: int
    capacity: int


class Registered(msgspec.Struct, frozen=True, rename="camel"):
    """The answer to registering."""

    gateway_id: str
    gateway_secret: str
    heartbeat_interval_ms: int


class Heard(msgspec.Struct, frozen=True, rename="camel"):
    """The answer to a heartbeat; `routes` is None where the gateway has this revision already."""

    routes_revision: int
    routes: list[Route] | None = None


class Problem(msgspec.Struct, frozen=True):
    """A refusal of the service."""

    code: str
    message: str


class Rejected(Exception):
    """The service refuses, and will do so until somebody changes something."""


class Later(Exception):
    """Something cannot be done now, but may be later.

    Args:
        why: the cause, for the person at the terminal.
        pause_seconds: longest pause before the next attempt.
        least_seconds: shortest pause before it.
    """

    def __init__(self, why: str, pause_seconds: float = AWAY_SECONDS, least_seconds: float = 0.0) -> None:
        super().__init__(why)
        self.pause_seconds = max(pause_seconds, least_seconds)
        self.least_seconds = least_seconds


class NotCarried(Later):
    """The service has answered, but its routes cannot be put in force now."""


class SecretEnded(Exception):
    """The gateway's secret is no longer accepted, so it has to register again."""


class Service:
    """The service, as a gateway knows it.

    Args:
        upstream: makes the requests.
        identity: what the gateway registers as.
    """

    def __init__(self, upstream: Upstream, identity: Identity) -> None:
        self._upstream = upstream
        self._identity = identity

    async def register(self) -> Registered:
        """Register the gateway; its former secret ends.

        Raises:
            Rejected: the service takes not this token, or not this identity.
            Later: there is no answer.
        """
        answer = await self._ask("register", {}, msgspec.json.encode(self._identity))
        if answer.status == 401:
            raise Rejected("the deployment token is another one")
        return await _decoded(answer, Registered)

    async def beat(self, registered: Registered, connections: int, revision: int) -> Heard:
        """Send a heartbeat; the answer may wait until there are other routes.

        Args:
            registered: the answer to registering.
            connections: how many connections the gateway carries.
            revision: the revision of the routes in force; 0 for none that the service has given.

        Raises:
            SecretEnded: the secret is no longer accepted.
            Rejected: the service refuses, as Partyline never does.
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
        """Make a request; returns the answer where its status is a success or 401."""
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
    """The client of the service at an address, to be opened by `async with`.

    Args:
        url: the service's address, without a slash at its end.
    """
    return Upstream(url, seconds=ANSWER_SECONDS, max_bytes=MAX_ANSWER_BYTES)


def _retry_after_seconds(answer: Answer) -> float:
    text = answer.header("retry-after") or ""
    return min(float(text), 60.0) if text.isdecimal() and len(text) < 10 else AWAY_SECONDS


def _told(answer: Answer) -> str:
    try:
        problem = decoded(answer.body[:4096], Problem)
    except NotUnderstood:
        return str(answer.status)
    return f"{answer.status} {problem.code}, {problem.message}"[:300]


async def _decoded(answer: Answer, kind: type[Shape]) -> Shape:
    """Decode the body of an answer in another thread: it may have megabytes, and connections go on meanwhile."""
    try:
        return await trio.to_thread.run_sync(decoded, answer.body, kind)
    except NotUnderstood:
        raise Later("the service has answered something else than a gateway expects") from None
