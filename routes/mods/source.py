"""Sends requests to one catalogue of mods, within its rate limit, and says what its answers mean."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import structlog

from actors.kernel.clock import Clock
from actors.mods.kept import Body, Failure, Reason, Said
from routes.edge.downloads import etag_of_content
from routes.edge.outgoing_http import Answer, OutgoingFault, Upstream
from routes.mods.budget import UNDERWAY_MAX, Budget
from routes.mods.requests import ModRequest, SourceName, Unreadable

SECONDS = 4.5
"""Deadline of one request, from connecting to the last byte: half a second less than the service's own requests have,
so that their callers are told of the failure, and it is remembered."""

MAX_BYTES = 2 * 1024 * 1024
"""Most bytes of an answer that is accepted."""

RETRY_SECONDS = 10
RETRY_SECONDS_MAX = 300
REMEMBERED_MS = 60_000
"""How long it is remembered that the catalogue has no such thing, or does not take a query."""

_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)

log = structlog.get_logger()


class Source:
    """One catalogue.

    Args:
        name: the catalogue's name.
        upstream: the catalogue's API; None if no request can be sent, because no key is configured.
        headers: the headers of each request.
        clock: the time that the rules go by.
        nodes: returns how many nodes send requests to the catalogue, at least 1.

    Attributes:
        asked: how many requests were sent.
    """

    def __init__(
        self,
        name: SourceName,
        upstream: Upstream | None,
        headers: Mapping[str, str],
        clock: Clock,
        nodes: Callable[[], int] = lambda: 1,
    ) -> None:
        self.name = name
        self.asked = 0
        self._upstream = upstream
        self._headers = {"accept": "application/json", **headers}
        self._clock = clock
        self._budget = Budget(clock.now_ms(), nodes)
        self._underway = 0
        self._away = False

    @property
    def is_set_up(self) -> bool:
        """Whether requests can be sent to the catalogue at all."""
        return self._upstream is not None

    def hold_up(self) -> Failure | None:
        """Take one request from the budget; returns None if it may be sent now, else the failure to answer with."""
        now_ms = self._clock.now_ms()
        if self._upstream is None:
            return _away(None, now_ms, RETRY_SECONDS)
        if self._underway >= UNDERWAY_MAX:
            return _away(None, now_ms, 1)
        wait_ms = self._budget.take(now_ms)
        return Failure(Reason.AWAY, None, now_ms + wait_ms) if wait_ms else None

    async def ask(self, request: ModRequest) -> Said:
        """Send a request for which `hold_up` returned None; returns the answer, or the failure to remember instead.

        This takes `SECONDS` at most. Cancellation closes the connection.

        Raises:
            RuntimeError: the catalogue is not set up.
        """
        if self._upstream is None:
            raise RuntimeError(f"{self.name} is not set up")
        self.asked += 1
        self._underway += 1
        try:
            answer = await self._upstream.ask("GET", request.path, query=request.query, headers=self._headers)
        except OutgoingFault:
            said: Said = _away(None, self._clock.now_ms(), RETRY_SECONDS)
        else:
            said = self._outcome_of(request, answer)
        finally:
            self._underway -= 1
        self._note(said)
        return said

    def _outcome_of(self, request: ModRequest, answer: Answer) -> Said:
        now_ms = self._clock.now_ms()
        self._budget.learn(answer.header("x-ratelimit-remaining"), answer.header("x-ratelimit-reset"), now_ms)
        match answer.status:
            case HTTPStatus.OK:
                try:
                    content = request.reading(answer.body)
                except Unreadable:
                    return _away(answer.status, now_ms, RETRY_SECONDS)
                return Body(content, etag_of_content(content), now_ms, request.fresh_seconds * 1000)
            case HTTPStatus.NOT_FOUND:
                return Failure(Reason.NOT_FOUND, answer.status, now_ms + REMEMBERED_MS)
            case HTTPStatus.BAD_REQUEST:
                return Failure(Reason.REFUSED, answer.status, now_ms + REMEMBERED_MS)
            case _:
                return _away(answer.status, now_ms, retry_seconds(answer.header("retry-after"), now_ms))

    def _note(self, said: Said) -> None:
        """Log when the catalogue stops answering, and when it answers again."""
        match said:
            case Failure(reason=Reason.AWAY, upstream_status=status):
                if not self._away:
                    log.warning("a catalogue of mods is away", source=self.name, status=status)
                self._away = True
            case _:
                if self._away:
                    log.info("a catalogue of mods is back", source=self.name)
                self._away = False


def retry_seconds(text: str | None, now_ms: int) -> int:
    """For how long to send no further request, 1 to 300 seconds.

    Args:
        text: the header Retry-After, seconds or a date (RFC 9110 §10.2.3); None or anything else means 10 seconds.
        now_ms: epoch milliseconds.
    """
    if text is None:
        return RETRY_SECONDS
    if _SECONDS.fullmatch(text.strip()):
        seconds = int(text)
    else:
        try:
            at = parsedate_to_datetime(text)
        except (ValueError, OverflowError):  # no date, or one of a year that no date has
            return RETRY_SECONDS
        seconds = int(at.replace(tzinfo=at.tzinfo or UTC).timestamp() - now_ms / 1000)
    return min(max(seconds, 1), RETRY_SECONDS_MAX)


def _away(upstream_status: int | None, now_ms: int, seconds: int) -> Failure:
    return Failure(Reason.AWAY, upstream_status, now_ms + seconds * 1000)
