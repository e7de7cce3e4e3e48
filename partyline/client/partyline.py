"""The client of one user for one service, for trio and asyncio."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Self

import anyio
import httpx2

from partyline.client.credentials import Credentials, GetToken
from partyline.client.live import Live
from partyline.client.rest import Rest

TIMEOUT_SECONDS = 40.0
"""How long one try of a request may take: longer than the longest that the service lets one wait, 30 s."""


class Partyline(anyio.AsyncContextManagerMixin):
    """Requests (`rest`) and the live socket (`live`) of one user, for the time of its `async with`. Whoever still waits
    for something when that ends, in another task, gets `Unreachable`.

    Args:
        url: address of the service, `https://play.example.org`.
        token: an access token; without `get_token` it is used until it ends. None for none.
        get_token: gets a fresh token, for instance from your login service; None where the user is signed out.
        timeout_seconds: how long one try of a request may take, half of it to connect; of a body that is not decoded
            (`into=bytes`) how long it may pause.
        tls: how the service's certificate is checked; by default with the system's authorities.
    """

    rest: Rest
    live: Live

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        get_token: GetToken | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._base = url.rstrip("/")
        if not self._base.startswith(("http://", "https://")):
            raise ValueError(f"{url} is not an address of http or https")
        self._credentials = Credentials(token, get_token)
        self._timeout_seconds, self._tls = timeout_seconds, tls

    @asynccontextmanager
    async def __asynccontextmanager__(self) -> AsyncGenerator[Self]:
        failure: BaseException | None = None
        async with httpx2.AsyncClient(
            base_url=self._base,
            # Less for connecting, so that it is known of a try which ends there that nothing has left.
            timeout=httpx2.Timeout(self._timeout_seconds, connect=self._timeout_seconds / 2),
            verify=True if self._tls is None else self._tls,
        ) as http:
            async with anyio.create_task_group() as tasks:
                self.rest = Rest(http, self._credentials)
                self.live = Live(http, self._base, self._credentials, tasks)
                tasks.start_soon(self.live.run)
                try:
                    yield self
                except (Exception, KeyboardInterrupt, SystemExit) as error:
                    failure = error  # raised below as it is, and not in a group of one exception
                finally:
                    self.live.close()
                tasks.cancel_scope.cancel()
            if failure is not None:
                raise failure
