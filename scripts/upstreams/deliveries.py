"""Events on their way to a webhook: they arrive at least once, in any order, as late as a test likes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias, get_args

import httpx2
import trio

from routes.edge.identity.outbound import trusted_authorities

Order: TypeAlias = Literal["same", "reversed", "shuffled"]

RETRY_SECONDS = 0.5
ANSWER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Event:
    """An event, by its id, and the body that is sent."""

    id: str
    body: bytes


@dataclass(eq=False)
class Deliveries:
    """Sends events to one address.

    Args:
        url: the webhook's address; None = events are kept, and never sent.
        headers: makes the headers of an event, with its signature, afresh for each try.
        copies: how many times each event is sent at the same time.
        held: whether events are kept until `flush`.
        tries: most tries to send an event until the webhook takes it.
        seed: the seed of the order `shuffled`.
        answers: the status of each answer that came.
        given_up: events that were not taken after all tries.
    """

    url: str | None
    headers: Callable[[Event], dict[str, str]]
    copies: int = 1
    held: bool = False
    tries: int = 20
    seed: int = 1
    answers: list[int] = field(default_factory=list)
    given_up: list[Event] = field(default_factory=list)
    _waiting: list[Event] = field(default_factory=list)
    _sending: int = 0
    _changed: trio.Condition = field(default_factory=trio.Condition)
    _nursery: trio.Nursery | None = None
    _client: httpx2.AsyncClient | None = None

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Send the events that are put, until cancelled."""
        # One client for all: reading the certificates that it trusts takes longer than delivering an event.
        async with (
            httpx2.AsyncClient(
                verify=trusted_authorities(), timeout=ANSWER_SECONDS, trust_env=False
            ) as self._client,
            trio.open_nursery() as self._nursery,
        ):
            task_status.started()
            await trio.sleep_forever()

    def put(self, event: Event) -> None:
        """Send an event, or keep it where events are held."""
        if self.held or self.url is None:
            self._waiting.append(event)
        else:
            self._send(event)

    def flush(self, order: Order = "same") -> int:
        """Send the events that were kept, in this order, all at once; returns how many there were.

        Raises:
            ValueError: there is no such order.
        """
        if order not in get_args(Order):
            raise ValueError(f"order is one of {', '.join(get_args(Order))}")
        events = list(self._waiting)
        self._waiting.clear()
        if order == "reversed":
            events.reverse()
        elif order == "shuffled":
            Random(self.seed).shuffle(events)
        for event in events:
            self._send(event)
        return len(events)

    async def idle(self) -> None:
        """Wait until no event is being sent."""
        async with self._changed:
            while self._sending:
                await self._changed.wait()

    def _send(self, event: Event) -> None:
        if self._nursery is None or self._client is None:
            raise RuntimeError("deliveries do not run")
        self._sending += self.copies
        for _ in range(self.copies):
            self._nursery.start_soon(self._deliver, event, self._client)

    async def _deliver(self, event: Event, client: httpx2.AsyncClient) -> None:
        try:
            for _ in range(self.tries):
                if await self._taken(client, event):
                    return
                await trio.sleep(RETRY_SECONDS)
            self.given_up.append(event)
        finally:
            self._sending -= 1
            with trio.CancelScope(shield=True):
                async with self._changed:
                    self._changed.notify_all()

    async def _taken(self, client: httpx2.AsyncClient, event: Event) -> bool:
        headers = {"content-type": "application/json", **self.headers(event)}
        try:
            answer = await client.post(self.url or "", content=event.body, headers=headers)
        except httpx2.TransportError:
            return False
        self.answers.append(answer.status_code)
        return answer.is_success
