"""Requests to other servers: one client for each, with a fixed base address (ASVS 1.3.6, 13.2.4).

What an answer may cost is bounded before it is read: its seconds, its bytes, and no compression, so that a small answer
cannot become a large one. Neither cookies, nor proxies of the environment, nor redirects (unless the server has a list
of hosts for them) change where a request goes; that is why the transport of httpx2 is used and not its client. No error
holds anything of the request or of the answer, so that keys and the texts of others stay out of the log; what is wrong
with a certificate is there.
"""

import re
import ssl
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self
from urllib.parse import urlencode

import httpx2
import structlog
import trio

from routes.edge.docs.version import VERSION
from routes.edge.identity.outbound import said_of, trusted_authorities
from routes.edge.outgoing_redirects import MAX_REDIRECTS, Hop, RedirectRefused, Redirects

log = structlog.get_logger()

REDIRECTS = frozenset({301, 302, 303, 307, 308})

_PART = re.compile(r"(?!\.+\Z)[A-Za-z0-9._~-]{1,253}", re.ASCII)
"""A segment of a path, as long as the name of a host may be (RFC 1035 §2.3.4)."""
_AGENT = f"Partyline/{VERSION}"


class OutgoingFault(Exception):
    """There is no answer that can be used. Its text is always the same."""


class NotAnswered(OutgoingFault):
    """The server could not be reached, was too slow, or broke off. It may have done what was asked."""


class NotSent(NotAnswered):
    """No connection came about, so nothing of the request was sent. The server has not done what was asked."""


class AnswerRefused(OutgoingFault):
    """The server has answered what is not taken: too many bytes, an encoded body, or a redirect."""


class Answer:
    """A whole answer. It has no representation of its own, because it may hold what no log should show.

    Args:
        status: the HTTP status; never a redirect.
        headers: the headers as received.
        body: the whole body.
    """

    __slots__ = ("_headers", "body", "status")

    def __init__(self, status: int, headers: httpx2.Headers, body: bytes) -> None:
        self.status = status
        self.body = body
        self._headers = headers

    def header(self, name: str) -> str | None:
        """The value of a header, whatever the case of its name; repeated ones are joined by commas; None if absent."""
        return self._headers.get(name)


class Upstream:
    """Another server that requests are sent to; an async context manager, which closes its connections.

    Args:
        base_url: the server's address from the configuration, http or https, without a slash at its end. It may be a
            private address, since operators may use servers of their own.
        seconds: how long one request may take, from connecting to the last byte of the answer.
        max_bytes: the most bytes of one answer's body.
        connections: the most connections at the same time; further requests wait, within their `seconds`.
        redirects: where redirects of GETs may lead; None refuses them.
    """

    def __init__(
        self,
        base_url: str,
        *,
        seconds: float,
        max_bytes: int,
        connections: int = 20,
        redirects: Redirects | None = None,
    ) -> None:
        self._base_url = base_url
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._redirects = redirects
        self._certificate_fault: tuple[str, str] | None = None  # that the log has
        self._transport = httpx2.AsyncHTTPTransport(
            verify=trusted_authorities(), trust_env=False, limits=httpx2.Limits(max_connections=connections)
        )

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._transport.__aexit__(exc_type, exc_value, traceback)

    async def ask(
        self,
        method: str,
        path: Sequence[str],
        *,
        query: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Send one request, and return the whole answer. It is never sent again.

        Cancellation closes the connection; the server may have done what was asked.

        Args:
            method: the HTTP method, in capitals.
            path: the segments below the base address, of letters, digits, `-`, `.`, `_` and `~`; none consists of dots.
            query: (name, value) of each parameter, any text.
            headers: {name: value}, of visible ASCII characters and spaces.
            body: the request's body; None for none.

        Raises:
            NotSent: no connection was made, so the server has not done what was asked; or the base address is none.
            NotAnswered: the server was too slow or broke off; it may have done what was asked.
            AnswerRefused: the answer is too long, is an encoded body, or is a redirect that is refused.
            ValueError: a segment of the path has another form; nothing was sent.
        """
        url = f"{self._base_url}/{checked_path(path)}{'?' if query else ''}{urlencode(query)}"
        return await self._ask(method, url, headers, body)

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str] | None, body: bytes | None
    ) -> Answer:
        sending = _Sending()
        try:
            request = httpx2.Request(
                method,
                url,
                headers={"user-agent": _AGENT, **(headers or {}), "accept-encoding": "identity"},
                content=body,
                extensions={"trace": sending.trace},
            )
            with trio.fail_after(self._seconds):
                return await self._exchange(request)
        except (httpx2.TransportError, httpx2.InvalidURL, UnicodeError, trio.TooSlowError):
            # A UnicodeError: Python's look-up takes no name with a part that is empty or of more than 63 characters.
            # The cause is left out: its text names addresses and may repeat what the server has sent.
            if not sending.begun:
                raise NotSent("the server could not be reached") from None
            raise NotAnswered("the server has not answered") from None

    async def _exchange(self, request: httpx2.Request) -> Answer:
        answer = await self._sent(self._transport, request)
        url = str(request.url)
        for _ in range(MAX_REDIRECTS):
            if answer.status not in REDIRECTS:
                return answer
            if self._redirects is None or request.method != "GET":
                break
            try:
                hop = await self._redirects.hop(url, answer.header("location"))
            except RedirectRefused:
                break
            url, answer = hop.url, await self._follow(hop, self._redirects)
        if answer.status in REDIRECTS:
            raise AnswerRefused("the server has answered with a redirect")
        return answer

    async def _follow(self, hop: Hop, redirects: Redirects) -> Answer:
        """The answer at a hop. No header of the request goes there, and no connection is kept: connections are found by
        address, and another name at the same one must not use what was verified for this name."""
        request = httpx2.Request(
            "GET",
            hop.connect_url,
            headers={"host": hop.host, "user-agent": _AGENT, "accept-encoding": "identity"},
            extensions={"sni_hostname": hop.host},
        )
        async with httpx2.AsyncHTTPTransport(verify=redirects.tls, trust_env=False) as transport:
            return await self._sent(transport, request)

    async def _sent(self, transport: httpx2.AsyncHTTPTransport, request: httpx2.Request) -> Answer:
        try:
            response = await transport.handle_async_request(request)
        except httpx2.ConnectError as error:
            self._tell_of_certificate(said_of(error), request.headers["host"])
            raise
        self._certificate_fault = None
        try:
            if response.status_code in REDIRECTS:
                return Answer(response.status_code, response.headers, b"")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise AnswerRefused("the server has answered with an encoded body")
            body = await self._read(response)
        finally:
            await response.aclose()
        return Answer(response.status_code, response.headers, body)

    def _tell_of_certificate(self, error: BaseException, host: str) -> None:
        """Have the log say once which certificate is not accepted and why, as an operator may have to mend that.

        Why is a text of OpenSSL, which holds nothing that was sent.
        """
        if isinstance(error, ssl.SSLCertVerificationError):
            fault = (host, error.verify_message)
            if fault != self._certificate_fault:
                log.warning("the certificate of another server is not accepted", server=host, why=fault[1])
            self._certificate_fault = fault

    async def _read(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        # Leaving the loop would leave the generators below it open. Cancelling ends them at their next wait, so what is
        # read beyond the bound is what has arrived already.
        with trio.CancelScope() as scope:
            async for piece in response.aiter_raw():
                if len(body) <= self._max_bytes:
                    body += piece
                if len(body) > self._max_bytes:
                    scope.cancel()
        if len(body) > self._max_bytes:
            raise AnswerRefused("the server has answered with too many bytes")
        return bytes(body)


async def ask_address(
    method: str,
    url: str,
    *,
    seconds: float,
    max_bytes: int,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    """Send one request to an address that is taken as it is, over a connection of its own, and return the answer.

    Cancellation closes the connection; the server may have done what was asked.

    Args:
        method, headers, body: as for `Upstream.ask`.
        seconds, max_bytes: as for `Upstream`.
        url: the whole address, which nobody but an operator, or who an operator trusts, has chosen.

    Raises:
        NotSent, NotAnswered, AnswerRefused: as `Upstream.ask`.
    """
    async with Upstream(url, seconds=seconds, max_bytes=max_bytes, connections=1) as upstream:
        return await upstream._ask(method, url, headers, body)


class _Sending:
    """Knows whether the first byte of a request may have left."""

    __slots__ = ("begun",)

    def __init__(self) -> None:
        self.begun = False

    async def trace(self, name: str, _info: Mapping[str, object]) -> None:
        """Called by the transport before and after each of its steps."""
        self.begun = self.begun or name.endswith(".send_request_headers.started")


def checked_path(parts: Sequence[str]) -> str:
    """The segments of a path, joined by slashes.

    Raises:
        ValueError: a segment is empty, too long, consists of dots, or holds a character with a meaning in URLs.
    """
    for part in parts:
        if _PART.fullmatch(part) is None:
            raise ValueError("not a segment of a path")
    return "/".join(parts)
