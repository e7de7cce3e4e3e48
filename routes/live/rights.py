"""Revocation on open sockets: whoever runs a stream is told when its user's rights have moved (contract §2).

Rights are asked in one task for all sockets, a user at a time, so that a role that thousands hold costs no
storm. A store that cannot be asked is asked again: nobody keeps a stream because the question failed, nobody
loses it either, and requests are refused meanwhile.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio

from actors.errors import Forbidden, NotFound
from actors.users import Users
from persistence.errors import PersistenceError
from routes.edge.principal import Access

RETRY_SECONDS = 0.5
"""Between two attempts while the store cannot be asked; a revocation shows within 2 s of its return."""

FORBIDDEN = Forbidden.code
"""Why a subscription ends whose viewer has lost the permission node."""

Listener = Callable[[Access], None]
"""Told the rights as they are now; never waits."""


class Rights:
    """Who runs streams, and whose rights are to be asked again.

    Args:
        users: knows what everybody may do.
    """

    def __init__(self, users: Users) -> None:
        self._users = users
        self._listeners: dict[str, dict[object, Listener]] = {}  # {user id: {token of the stream: listener}}
        self._moved: dict[str, None] = {}  # user ids still to be asked about, in order
        self._wake = trio.Event()

    @contextmanager
    def followed(self, user_id: str, listener: Listener) -> Iterator[None]:
        """While this is open, `listener` is told whenever the user's rights may have moved.

        Args:
            user_id: whose stream it is.
            listener: called synchronously, from another task; must not raise.
        """
        token = object()
        self._listeners.setdefault(user_id, {})[token] = listener
        try:
            yield
        finally:
            mine = self._listeners[user_id]
            del mine[token]
            if not mine:
                del self._listeners[user_id]

    def moved(self, user_id: str) -> None:
        """The rights of this user, or with "" anybody's, may have changed; the listener of `Users`."""
        if user_id:
            if user_id not in self._listeners:
                return
            self._moved[user_id] = None
        else:
            self._moved.update(dict.fromkeys(self._listeners))
        self._wake.set()

    async def keep(self) -> None:
        """Tell the streams, for as long as the service runs; ends by cancellation only."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            while self._moved:
                user_id = next(iter(self._moved))
                del self._moved[user_id]
                await self._ask(user_id)

    async def _ask(self, user_id: str) -> None:
        while user_id in self._listeners:
            try:
                access = await self._users.access_of(user_id)
            except NotFound:
                return
            except PersistenceError:
                await trio.sleep(RETRY_SECONDS)
                continue
            for listener in tuple(self._listeners.get(user_id, {}).values()):
                listener(access)
            return


def require(access: Access, node: str) -> None:
    """Pass, or refuse with the node that is missing.

    Args:
        access: the rights of whoever asks.
        node: of permission.

    Raises:
        Forbidden: with `meta.permission`.
    """
    if not access.allows(node):
        raise Forbidden(f"missing permission {node}", permission=node)
