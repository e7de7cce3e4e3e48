"""Requests: JSON in, JSON out, refusals as exceptions, and writes that are repeated without happening twice."""

from collections.abc import AsyncIterator, Mapping
from secrets import token_hex
from typing import Any, TypedDict, TypeVar, Unpack, overload

import anyio
import httpx2
import msgspec

from partyline.client.backoff import Backoff
from partyline.client.credentials import Credentials, Grant
from partyline.client.problem import ClientError, Unreachable, closed, elsewhere, problem_of

RETRY_SECONDS = 20.0
"""How long a request is repeated, unless its `retry_seconds` says otherwise."""

_KEYED = frozenset({"POST", "PUT"})
"""Methods that carry an Idempotency-Key: the service does each key once, so that they may be repeated."""

_SAFE = frozenset({"GET", "HEAD", *_KEYED})
"""Methods that are repeated after any failure; the others only where the request has not left."""

T = TypeVar("T")
Param = str | int | float | bool | None
Query = Mapping[str, object]


class Options(TypedDict, total=False):
    """Arguments that every request takes.

    Args:
        if_match: the revision that the change was made from, for If-Match; None for none.
        idempotency_key: the Idempotency-Key of a POST or PUT; a new one by default.
        headers: further headers of the request.
        retry_seconds: how long the request is repeated; 0 for one try, 20 by default.
    """

    if_match: str | None
    idempotency_key: str | None
    headers: Mapping[str, str] | None
    retry_seconds: float


class Rest:
    """Requests to one service.

    Args:
        http: sends the requests.
        credentials: has the token that the requests carry.
    """

    def __init__(self, http: httpx2.AsyncClient, credentials: Credentials) -> None:
        self._http, self._credentials = http, credentials

    @overload
    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        into: type[T],
        **options: Unpack[Options],
    ) -> T: ...
    @overload
    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        into: None = None,
        **options: Unpack[Options],
    ) -> Any: ...
    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        into: Any = None,
        **options: Unpack[Options],
    ) -> Any:
        """Make a request; repeat it where that is safe and may help.

        POST and PUT carry an Idempotency-Key, so that they, like GET, are repeated after a temporary refusal and where
        there was no answer. DELETE and PATCH are repeated only where no connection could be made. After a 401 any
        request is made once more with a fresh token.

        Args:
            method: `GET` and so on.
            path: begins with `/`; names and ids in it are encoded by whoever calls.
            query: values that are None are left out; lists repeat their name.
            body: sent as JSON: dicts, lists, or structs of msgspec.
            into: a type for the answer, such as `Message`; None for plain JSON, `bytes` for the body undecoded, which
                may take as long as it comes: it may be a large file.
            options: see `Options`.

        Returns:
            The answer; None where it has no body.

        Raises:
            Problem: the service refuses, or leads elsewhere (`ELSEWHERE`).
            Unreachable: there was no answer, or none of the type, or the client was closed. Cancelled, it may have
                happened.
        """
        sent = dict(options.get("headers") or {})
        if method in _KEYED:
            sent["Idempotency-Key"] = options.get("idempotency_key") or token_hex(16)
        if (revision := options.get("if_match")) is not None:
            sent["If-Match"] = revision
        content = None if body is None else msgspec.json.encode(body)
        if content is not None:
            sent.setdefault("Content-Type", "application/json")
        request = _Request(method, path, _pairs(query), content, sent, is_file=into is bytes)
        response = await self._until_answered(request, options.get("retry_seconds", RETRY_SECONDS))
        return _read(response, into)

    @overload
    async def get(
        self, path: str, query: Query | None = None, *, into: type[T], **options: Unpack[Options]
    ) -> T: ...
    @overload
    async def get(
        self, path: str, query: Query | None = None, *, into: None = None, **options: Unpack[Options]
    ) -> Any: ...
    async def get(
        self, path: str, query: Query | None = None, *, into: Any = None, **options: Unpack[Options]
    ) -> Any:
        """Read, as `request` does, which says what each argument means."""
        return await self.request("GET", path, query=query, into=into, **options)

    @overload
    async def post(
        self, path: str, body: object = ..., *, into: type[T], **options: Unpack[Options]
    ) -> T: ...
    @overload
    async def post(
        self, path: str, body: object = ..., *, into: None = None, **options: Unpack[Options]
    ) -> Any: ...
    async def post(
        self, path: str, body: object = msgspec.UNSET, *, into: Any = None, **options: Unpack[Options]
    ) -> Any:
        """Make something, or have something done, as `request` does, which says what each argument means."""
        return await self.request(
            "POST", path, body={} if body is msgspec.UNSET else body, into=into, **options
        )

    @overload
    async def put(self, path: str, body: object, *, into: type[T], **options: Unpack[Options]) -> T: ...
    @overload
    async def put(self, path: str, body: object, *, into: None = None, **options: Unpack[Options]) -> Any: ...
    async def put(self, path: str, body: object, *, into: Any = None, **options: Unpack[Options]) -> Any:
        """Put something in the place of what is there, as `request` does, which says what each argument means."""
        return await self.request("PUT", path, body=body, into=into, **options)

    @overload
    async def patch(self, path: str, body: object, *, into: type[T], **options: Unpack[Options]) -> T: ...
    @overload
    async def patch(
        self, path: str, body: object, *, into: None = None, **options: Unpack[Options]
    ) -> Any: ...
    async def patch(self, path: str, body: object, *, into: Any = None, **options: Unpack[Options]) -> Any:
        """Change some fields, as `request` does, which says what each argument means."""
        return await self.request("PATCH", path, body=body, into=into, **options)

    async def delete(self, path: str, **options: Unpack[Options]) -> Any:
        """Remove, as `request` does, which says what each argument means."""
        return await self.request("DELETE", path, **options)

    @overload
    def items(
        self, path: str, query: Query | None = None, *, into: type[T], **options: Unpack[Options]
    ) -> AsyncIterator[T]: ...
    @overload
    def items(
        self, path: str, query: Query | None = None, *, into: None = None, **options: Unpack[Options]
    ) -> AsyncIterator[Any]: ...
    async def items(
        self, path: str, query: Query | None = None, *, into: Any = None, **options: Unpack[Options]
    ) -> AsyncIterator[Any]:
        """Every item of a list, page by page, as they are asked for.

        Args:
            path: a list that answers `{items, nextCursor}`.
            query: `limit` is the length of a page.
            into: a type for each item; None for plain JSON.

        Raises:
            Problem, Unreachable: as from `request`, between two items.
        """
        cursor: str | None = None
        while True:
            page = await self.get(path, {**(query or {}), "cursor": cursor}, into=_Page, **options)
            for item in page.items:
                yield _decoded(item, into)
            cursor = page.next_cursor
            if not cursor:
                return

    async def _until_answered(self, request: "_Request", retry_seconds: float) -> httpx2.Response:
        backoff, give_up_at = Backoff(), anyio.current_time() + retry_seconds
        while True:
            try:
                return await self._once(request)
            except ClientError as error:
                pause = backoff.next(error.retry_after_seconds)
                never_left = isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)
                may_repeat = error.is_temporary and (request.method in _SAFE or never_left)
                if not may_repeat or anyio.current_time() + pause > give_up_at:
                    raise
            await anyio.sleep(pause)

    async def _once(self, request: "_Request") -> httpx2.Response:
        response, used = await self._sent(request)
        if response.status_code == 401 and await self._credentials.renew(used):
            response, _ = await self._sent(request)
        if response.status_code >= 400:
            raise problem_of(response.status_code, response.content, response.headers.get("Retry-After"))
        if response.status_code >= 300 and response.status_code != 304:
            raise elsewhere(response.status_code, response.headers.get("Location"))
        return response

    async def _sent(self, request: "_Request") -> tuple[httpx2.Response, Grant | None]:
        """The answer, and the grant whose token was sent."""
        await self._credentials.token()
        grant = self._credentials.grant
        headers = dict(request.headers)
        if grant is not None:
            headers["Authorization"] = f"Bearer {grant.token}"
        if self._http.is_closed:
            raise closed()
        try:
            # What reads from the network waits for each piece alone, and pieces can come without an end.
            with anyio.fail_after(None if request.is_file else self._http.timeout.read):
                response = await self._http.request(
                    request.method,
                    request.path,
                    params=list(request.query),
                    content=request.content,
                    headers=headers,
                )
        except (httpx2.RequestError, TimeoutError) as error:
            raise (closed() if self._http.is_closed else Unreachable()) from error
        self._credentials.told_date(response.headers.get("Date"))
        return response, grant


class _Request(msgspec.Struct, frozen=True):
    method: str
    path: str
    query: list[tuple[str, Param]]
    content: bytes | None
    headers: dict[str, str]
    is_file: bool


class _Page(msgspec.Struct, rename="camel"):
    items: list[msgspec.Raw]
    next_cursor: str | None = None


def _pairs(query: Query | None) -> list[tuple[str, Param]]:
    """What is asked for, in order; None is left out, lists repeat their name, booleans become those of JSON."""
    pairs: list[tuple[str, Param]] = []
    for name, value in (query or {}).items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is not None:
                pairs.append((name, one if isinstance(one, bool | int | float) else str(one)))
    return pairs


def _read(response: httpx2.Response, into: Any) -> Any:
    if into is bytes:
        return response.content
    if response.status_code in (204, 304) or not response.content:
        return None
    return _decoded(response.content, into)


def _decoded(data: bytes | msgspec.Raw, into: Any) -> Any:
    try:
        return msgspec.json.decode(data) if into is None else msgspec.json.decode(data, type=into)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unreachable(f"the answer is not what was expected: {error}") from error
