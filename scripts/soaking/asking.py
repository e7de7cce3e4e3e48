"""Requests, counted by kind, and by whether they were answered, refused by a rule, or failed."""

import time
from typing import Any

import msgspec

from scripts.load.clients.http import RequestFailed, Requests
from scripts.soaking.books import Books
from scripts.soaking.weather import Weather

RULES = frozenset({404, 409, 410})
"""Status codes of refusals that are normal, as two users may do contrary things at the same moment."""


class NotDone(Exception):
    """A request was refused or has no answer; it has been counted."""


class Asker:
    """Makes the requests of all users and game servers.

    Args:
        requests: the connections to the service.
        books: count all that happens.
        weather: says when failures are to be expected.
    """

    def __init__(self, requests: Requests, books: Books, weather: Weather) -> None:
        self._requests, self.books, self._weather = requests, books, weather

    async def ask(
        self, kind: str, method: str, path: str, token: str, body: object = None, *, server_id: str = ""
    ) -> Any:
        """Make a request; returns the JSON of a successful answer, None where it has no body.

        Args:
            kind: the kind of request under which it is counted.
            token: a user's token, or the secret of the game server `server_id`.

        Raises:
            NotDone: the request was refused, or there was no answer. Cancelled, nothing is counted.
        """
        return _json(await self.read(kind, method, path, token, body, server_id=server_id))

    async def read(
        self, kind: str, method: str, path: str, token: str, body: object = None, *, server_id: str = ""
    ) -> bytes:
        """Make a request as `ask` does; returns the bytes of a successful answer."""
        mark, began_ns = self._weather.mark(), time.monotonic_ns()
        try:
            answer = await self._requests.send(method, path, token, body, server_id=server_id)
        except RequestFailed as failed:
            self._count(kind, mark, failed)
            raise NotDone from failed
        except OSError as error:
            self.count_error(f"{kind} {type(error).__name__}", mark)
            raise NotDone from error
        if not self._weather.was_rough(mark):
            self.books.add(kind, time.monotonic_ns() - began_ns)
        return answer

    def mark(self) -> int:
        """See `Weather.mark`."""
        return self._weather.mark()

    def count_error(self, what: str, mark: int) -> None:
        """Count a failure of something that began when the mark was taken."""
        where = self.books.weathered if self._weather.was_rough(mark) else self.books.errors
        where[what] += 1

    def _count(self, kind: str, mark: int, failed: RequestFailed) -> None:
        if not failed.status:
            self.count_error(f"{kind} no answer", mark)
            return
        what = f"{kind} {failed.status} {failed.code}"
        if failed.status in RULES:
            self.books.refused[what] += 1
        else:
            self.count_error(what, mark)


def _json(answer: bytes) -> Any:
    """The JSON of an answer; None where the body is something else, such as a page or a file."""
    try:
        return msgspec.json.decode(answer) if answer[:1] in (b"{", b"[") else None
    except msgspec.MsgspecError:
        return None
