"""The client for code without trio or asyncio: it has the same methods, and each call blocks. The asynchronous client
below it runs in a thread of its own."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload

from anyio.from_thread import BlockingPortal, start_blocking_portal
from msgspec import UNSET

from partyline.client.credentials import Grant
from partyline.client.live import Mode
from partyline.client.partyline import Partyline as AsyncPartyline
from partyline.client.problem import closed
from partyline.client.rest import Options, Query
from partyline.client.subscription import MOST_UNREAD, Item, Subscription

T = TypeVar("T")


class Partyline:
    """Requests (`rest`) and the live socket (`live`) of one user, for the time of its `with`.

    Args:
        url, token: as `partyline.client.Partyline` takes them.
        get_token: gets a fresh token; called in the client's own thread, which waits for it.
        options: further arguments of `partyline.client.Partyline`.
    """

    rest: "Rest"
    live: "Live"

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        get_token: Callable[[], Grant | None] | None = None,
        **options: Any,
    ) -> None:
        async def get() -> Grant | None:
            return get_token() if get_token is not None else None

        self._client = AsyncPartyline(
            url, token=token, get_token=get if get_token is not None else None, **options
        )
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal("asyncio", name="partyline.client"))
            # Another thread may wait for what lasts, or leave a channel too late to end its task.
            stack.callback(portal.call, portal.stop, True)
            client = stack.enter_context(_untold(portal.wrap_async_context_manager(self._client)))
            self.rest, self.live = Rest(portal, client), Live(portal, client)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._stack.__exit__(kind, error, trace)


class Rest:
    """Requests; each method takes, returns and raises what that of `partyline.client.rest.Rest` does."""

    def __init__(self, portal: BlockingPortal, client: AsyncPartyline) -> None:
        self._portal, self._client = portal, client

    @overload
    def request(
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
    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        into: None = None,
        **options: Unpack[Options],
    ) -> Any: ...
    def request(self, method: str, path: str, **options: Any) -> Any:
        """Make a request, as `rest.Rest`, which says what each argument means."""
        return _call(self._portal, partial(self._client.rest.request, method, path, **options))

    @overload
    def get(
        self, path: str, query: Query | None = None, *, into: type[T], **options: Unpack[Options]
    ) -> T: ...
    @overload
    def get(
        self, path: str, query: Query | None = None, *, into: None = None, **options: Unpack[Options]
    ) -> Any: ...
    def get(self, path: str, query: Query | None = None, **options: Any) -> Any:
        """Read, as `rest.Rest`, which says what each argument means."""
        return self.request("GET", path, query=query, **options)

    @overload
    def post(self, path: str, body: object = ..., *, into: type[T], **options: Unpack[Options]) -> T: ...
    @overload
    def post(
        self, path: str, body: object = ..., *, into: None = None, **options: Unpack[Options]
    ) -> Any: ...
    def post(self, path: str, body: object = UNSET, **options: Any) -> Any:
        """Make something, or have something done, as `rest.Rest`, which says what each argument means."""
        return _call(self._portal, partial(self._client.rest.post, path, body, **options))

    @overload
    def put(self, path: str, body: object, *, into: type[T], **options: Unpack[Options]) -> T: ...
    @overload
    def put(self, path: str, body: object, *, into: None = None, **options: Unpack[Options]) -> Any: ...
    def put(self, path: str, body: object, **options: Any) -> Any:
        """Put something in its place, as `rest.Rest`, which says what each argument means."""
        return self.request("PUT", path, body=body, **options)

    @overload
    def patch(self, path: str, body: object, *, into: type[T], **options: Unpack[Options]) -> T: ...
    @overload
    def patch(self, path: str, body: object, *, into: None = None, **options: Unpack[Options]) -> Any: ...
    def patch(self, path: str, body: object, **options: Any) -> Any:
        """Change some fields, as `rest.Rest`, which says what each argument means."""
        return self.request("PATCH", path, body=body, **options)

    def delete(self, path: str, **options: Unpack[Options]) -> Any:
        """Remove something, as `rest.Rest`, which says what each argument means."""
        return self.request("DELETE", path, **options)

    @overload
    def items(
        self, path: str, query: Query | None = None, *, into: type[T], **options: Unpack[Options]
    ) -> Iterator[T]: ...
    @overload
    def items(
        self, path: str, query: Query | None = None, *, into: None = None, **options: Unpack[Options]
    ) -> Iterator[Any]: ...
    def items(self, path: str, query: Query | None = None, **options: Any) -> Iterator[Any]:
        """Every item of a list, page by page, as `rest.Rest`, which says what each argument means."""
        items = self._client.rest.items(path, query, **options)
        while True:
            try:
                yield _call(self._portal, anext, items)
            except StopAsyncIteration:
                return


class Live:
    """The live socket; each method takes, returns and raises what that of `partyline.client.live.Live` does."""

    def __init__(self, portal: BlockingPortal, client: AsyncPartyline) -> None:
        self._portal, self._client = portal, client

    @contextmanager
    def subscribe(
        self,
        channel: str,
        *,
        mode: Mode = "snapshot",
        limit: int | None = None,
        most_unread: int = MOST_UNREAD,
    ) -> Iterator[Iterator[Item]]:
        """Watch a channel for the block, as `live.Live`, which says what each argument means.

        Yields:
            An iterator of what it shows, which waits for the next.
        """
        opened = self._client.live.subscribe(channel, mode=mode, limit=limit, most_unread=most_unread)
        # Leaving a channel has no fault of its own: the client was closed before.
        lost = (RuntimeError, CancelledError)
        with _untold(self._portal.wrap_async_context_manager(opened), lost) as subscription:
            yield self._items(subscription)

    @overload
    def send(self, channel: str, message: Mapping[str, object], *, into: type[T]) -> T: ...
    @overload
    def send(self, channel: str, message: Mapping[str, object], *, into: None = None) -> Any: ...
    def send(self, channel: str, message: Mapping[str, object], *, into: Any = None) -> Any:
        """Send a message, as `live.Live`, which says what each argument means."""
        return _call(self._portal, partial(self._client.live.send, channel, message, into=into))

    def read(self, channel: str, message_id: str) -> None:
        """Mark a conversation as read up to a message, as `live.Live`, which says what each argument means."""
        _call(self._portal, self._client.live.read, channel, message_id)

    def typing(self, channel: str) -> None:
        """Say that the user is writing; lost where there is no connection."""
        _call(self._portal, self._client.live.typing, channel)

    def wake(self) -> None:
        """Try to connect now rather than after the pause: the network is back."""
        self._portal.call(self._client.live.wake)

    def _items(self, subscription: Subscription) -> Iterator[Item]:
        while True:
            try:
                yield _call(self._portal, anext, subscription)
            except StopAsyncIteration:
                return


@contextmanager
def _untold(context: AbstractContextManager[T], lost: tuple[type[Exception], ...] = ()) -> Iterator[T]:
    """Enter a context of the portal's thread. It is left without the exception that ended the block, which is raised in
    this thread alone.

    Args:
        lost: faults of leaving it that nobody is told.
    """
    closing = ExitStack()
    entered = closing.enter_context(context)
    try:
        yield entered
    finally:
        with suppress(*lost):
            closing.close()


def _call(portal: BlockingPortal, function: Callable[..., Awaitable[T]], *arguments: object) -> T:
    """Call in the portal's thread, as `portal.call` does; raises `Unreachable` where the client is closed meanwhile."""
    try:
        return portal.call(function, *arguments)
    except CancelledError:
        raise closed() from None
