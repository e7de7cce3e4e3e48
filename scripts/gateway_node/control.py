"""Keeps a gateway registered, and its routes fresh.

Where that fails, players are not turned away: the routes stay in force, and it tries again.
"""

import random
from collections.abc import Awaitable, Callable

import trio

from scripts.gateway_node.routes import Routes
from scripts.gateway_node.service import Later, NotCarried, Registered, Rejected, SecretEnded, Service

FIRST_PAUSE_SECONDS = 0.2
"""The first pause before another attempt; each is twice as long as the one before it, up to what the fault allows."""

REJECTED_SECONDS = 30.0
"""Longest pause after a refusal, or after a new secret has ended unused: another gateway registers by the same name."""

EVEN_SECONDS = 1.0
"""The pause between two heartbeats where there was nothing new and the service did not wait, as while it shuts down."""

MAX_ATTEMPTS = 16
"""After so many failed attempts the pause does not get longer any more."""


class Control:
    """Keeps a gateway registered and its routes fresh.

    Args:
        service: the service that it registers with.
        carry: puts routes in force, whose revision the next heartbeat confirms; raises NotCarried.
        connections: returns how many connections are carried.
        say: tells the person at the terminal.
    """

    def __init__(
        self,
        service: Service,
        carry: Callable[[Routes], Awaitable[None]],
        connections: Callable[[], int],
        say: Callable[[str], None],
    ) -> None:
        self._service = service
        self._carry = carry
        self._connections = connections
        self._say = say
        self._registered: Registered | None = None
        self._was_heard = False  # whether a heartbeat with the present secret was answered
        self._revision = 0
        self.is_online = False

    async def run(self) -> None:
        """Register and send heartbeats until cancelled.

        Raises:
            Rejected: the very first answer was a refusal; after later ones it tells of them, and tries again.
        """
        attempts, is_first, told = 0, True, ""
        while True:
            try:
                await self._step()
            except Rejected as rejected:
                if is_first:
                    raise
                fault = Later(str(rejected), REJECTED_SECONDS)
            except Later as later:
                fault = later
            else:
                attempts, is_first, told = 0, False, ""
                continue
            if str(fault) != told:
                told = str(fault)
                self._say(f"{told}; it tries again, with the routes that it has")
            self.is_online, is_first = isinstance(fault, NotCarried), False
            pause = min(fault.pause_seconds, FIRST_PAUSE_SECONDS * 2**attempts) * random.uniform(0.7, 1.0)
            attempts = min(attempts + 1, MAX_ATTEMPTS)
            await trio.sleep(max(pause, fault.least_seconds))

    async def _step(self) -> None:
        if self._registered is None:
            self._registered, self._was_heard, self._revision = await self._service.register(), False, 0
            self._say(f"registered as {self._registered.gateway_id}")
        began_at = trio.current_time()
        try:
            heard = await self._service.beat(self._registered, self._connections(), self._revision)
        except SecretEnded:
            self._registered = None
            raise Later("its secret has ended", 0.0 if self._was_heard else REJECTED_SECONDS) from None
        if self._was_heard and not self.is_online:
            self._say("the service answers again")
        self._was_heard = self.is_online = True
        if heard.routes is not None:
            await self._carry(Routes(heard.routes_revision, heard.routes))
            self._revision = heard.routes_revision
            self._say(f"routes: {len(heard.routes)}, revision {self._revision}")
        elif trio.current_time() - began_at < EVEN_SECONDS:
            await trio.sleep(EVEN_SECONDS)
