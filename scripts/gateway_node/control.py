"""Keeps a gateway registered, and its routes fresh.

What goes wrong there is no reason to turn players away: the routes stay, and it tries again.
"""

import random
from collections.abc import Awaitable, Callable

import trio

from scripts.gateway_node.routes import Routes
from scripts.gateway_node.service import Later, NotCarried, Registered, Rejected, SecretEnded, Service

FIRST_PAUSE_SECONDS = 0.2
"""Until the next attempt; each pause is twice as long as the one before it, up to what the fault says."""

REJECTED_SECONDS = 30.0
"""Longest pause where the answer was no, or the new secret has ended as well: another gateway has the same name."""

EVEN_SECONDS = 1.0
"""Between two heartbeats where there was nothing new and the service did not wait, as while it ends."""

MAX_ATTEMPTS = 16
"""Attempts that make the pause longer."""


class Control:
    """Keeps a gateway registered and its routes fresh.

    Args:
        service: to ask.
        carry: puts routes in force, of which the next heartbeat confirms the revision; raises NotCarried.
        connections: how many there are.
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
        self._was_heard = False  # with the present secret
        self._revision = 0
        self.is_online = False

    async def run(self) -> None:
        """Go on until cancelled.

        Raises:
            Rejected: as the very first answer; later ones are told, and it tries again.
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
