"""The access token of one user, and what gets the next one before it ends."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import monotonic, time

import anyio

from partyline.client.problem import ClientError, Document, Problem

USED_PART = 0.8
"""The part of a token's life, 0 to 1, after which it is renewed."""

PAUSE_SECONDS = 10.0
"""Least pause between two renewals of tokens that are due: a token may live for a moment only, and the login service
may be away."""


@dataclass(frozen=True, slots=True)
class Grant:
    """An access token.

    Args:
        token: the token, as `Authorization: Bearer` carries it.
        expires_at: epoch seconds, by the service's clock; None where that is not known: the token is then renewed once
            it is refused.
    """

    token: str
    expires_at: float | None = None


GetToken = Callable[[], Awaitable[Grant | None]]
"""Gets a fresh token, for instance from your login service; None where the user is signed out. Where it gets none now,
it raises `Unreachable` or a temporary `Problem`, and is called again; any other exception ends the client."""


class Credentials:
    """Keeps a token fresh.

    Args:
        token: the first token; without `get_token` it is used until it ends. None for none.
        get_token: gets a fresh token; None where tokens are not renewed.
    """

    def __init__(self, token: str | None, get_token: GetToken | None) -> None:
        self._grant = Grant(token) if token is not None else None
        self._get_token = get_token
        self._received_at = time()
        self._ahead_seconds = 0.0
        self._asked_at = -PAUSE_SECONDS
        self._lock: anyio.Lock | None = None

    async def token(self) -> str | None:
        """The token to use now; None for somebody who is not signed in. Waits for `get_token` where one is due.

        While `get_token` fails for the moment, the old token is used on, as the service alone says whether it has
        ended.
        """
        if self._get_token is not None and self._is_due():
            self._asked_at = monotonic()
            try:
                await self.renew(self._grant)
            except ClientError as error:
                if self._grant is None or not error.is_temporary:
                    raise
        return self._grant.token if self._grant is not None else None

    def told_date(self, date: str | None) -> None:
        """Take the service's clock from an answer, as this device's own may be wrong.

        Args:
            date: the Date header; None where there is none. What is no date is ignored.
        """
        try:
            self.told_time(parsedate_to_datetime(date or "").timestamp())
        except (ValueError, OverflowError):
            return

    def told_time(self, seconds: float) -> None:
        """Take the service's clock, which tells when a token is due.

        Args:
            seconds: epoch seconds by that clock, now.
        """
        self._ahead_seconds = seconds - time()

    @property
    def grant(self) -> Grant | None:
        """The token that is used now; None where there is none."""
        return self._grant

    async def renew(self, used: Grant | None) -> bool:
        """Get a fresh token, once for all who ask at the same time.

        Args:
            used: the grant that was refused or is due; where another caller has renewed it already, `get_token` is not
                called.

        Returns:
            Whether there is another token now. Raises what `get_token` raises; cancelled, the old token stays.
        """
        if self._get_token is None:
            return False
        if self._lock is None:
            self._lock = anyio.Lock()
        async with self._lock:
            if self._grant is not used:
                return self._grant is not None
            grant = await self._get_token()
            self._grant, self._received_at = grant, time()
            return grant is not None

    def _is_due(self) -> bool:
        if self._grant is None:
            return True
        if self._grant.expires_at is None or monotonic() < self._asked_at + PAUSE_SECONDS:
            return False
        life_seconds = self._grant.expires_at - (self._received_at + self._ahead_seconds)
        return time() - self._received_at >= life_seconds * USED_PART


def signed_out() -> Problem:
    """The problem that a client raises where it has no token, or none that the service accepts."""
    return Problem(Document(code="UNAUTHENTICATED", message="nobody is signed in"), 401)
