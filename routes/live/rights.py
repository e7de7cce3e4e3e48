"""Revocation on open sockets: a stream is notified when its user's rights have changed (contract §2), and a listener
is told from when on the user's tokens are valid. A node that only hears by NOTIFY that a user has changed reads both.

One task reads the rights for all sockets, one user at a time, so that the change of a role with thousands of holders
does not cause a burst of reads. If the database cannot be asked, the read is retried: streams neither end nor keep
revoked rights for good because of the failure, and requests are refused meanwhile.
"""

from collections.abc import Callable
from typing import Protocol

import trio

from actors.errors import Forbidden, NotFound
from actors.users.permissions import capped_to, resolve
from actors.users.users import Users
from persistence.errors import PersistenceError
from persistence.users.permissions import Grant
from routes.edge.principal import Access
from routes.edge.reply import resolved

RETRY_SECONDS = 0.5
"""Pause between two attempts while the database is unavailable; a revocation shows within 2 s of its return."""

FORBIDDEN = Forbidden.code
"""The code with which a subscription ends whose viewer has lost its permission node."""


NOTHING = resolve((), [Grant(node, negated=True) for node in ("*", "*:*", "*:*:*")], frozenset(), 0)
"""The rights of a user who was erased: every node is denied."""


NEVER_S = 2**62
"""Epoch seconds later than the issue of any token."""

TokensListener = Callable[[str, int], None]
"""Called with a user id and the first valid `iat` of the user's tokens, epoch seconds."""


class RightsObserver(Protocol):
    """A stream that is notified of its user's rights."""

    def recheck(self, access: Access) -> None:
        """Take the user's present rights, and end what they no longer cover. Never waits, never raises."""
        ...


class Rights:
    """Open streams by user, and the users whose rights must be read again.

    Args:
        users: the directory of users and their rights.
    """

    def __init__(self, users: Users) -> None:
        self._users = users
        self._observers: dict[str, tuple[RightsObserver, ...]] = {}  # {user id: who runs their streams}
        # Streams opened with a token whose issuer may not vouch for super-admins.
        self._capped: set[RightsObserver] = set()
        self._tokens_listeners: list[TokensListener] = []
        self._moved: dict[str, None] = {}  # user ids still to be asked about, in order
        self._wake = trio.Event()

    def on_tokens(self, listener: TokensListener) -> None:
        """Call `listener`, synchronously, whenever the rights of a user with open streams were read."""
        self._tokens_listeners.append(listener)

    def follow(self, user_id: str, observer: RightsObserver, known: Access, *, capped: bool = False) -> None:
        """Tell this stream whenever the user's rights may have moved, until `unfollow`.

        Args:
            user_id: the stream's user.
            observer: told synchronously, from any task.
            known: the rights that it was opened with. If they have changed since, it is told at once.
            capped: as in `UserPrincipal`, of the user who opened it.
        """
        self._observers[user_id] = (*self._observers.get(user_id, ()), observer)
        if capped:
            self._capped.add(observer)
        access = self._users.peek_access(user_id)
        if access is None:
            self.moved(user_id)
        elif capped_to(access, capped=capped) is not known:
            observer.recheck(capped_to(access, capped=capped))

    def unfollow(self, user_id: str, observer: RightsObserver) -> None:
        """Stop notifying a stream; call it once for each `follow`."""
        self._capped.discard(observer)
        others = tuple(one for one in self._observers[user_id] if one is not observer)
        if others:
            self._observers[user_id] = others
        else:
            del self._observers[user_id]

    def moved(self, user_id: str) -> None:
        """Queue a user whose rights may have changed; "" stands for all users. Called by `Users`."""
        if user_id:
            if user_id not in self._observers:
                return
            self._moved[user_id] = None
        else:
            self._moved.update(dict.fromkeys(self._observers))
        self._wake.set()

    async def keep(self) -> None:
        """Read the rights of queued users and notify their streams; ends only by cancellation."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            while self._moved:
                user_id = next(iter(self._moved))
                del self._moved[user_id]
                try:
                    await self._ask(user_id)
                except BaseException:
                    self.moved(user_id)  # back to the end of the queue, for when the task is restarted
                    raise

    async def _ask(self, user_id: str) -> None:
        while user_id in self._observers:
            try:
                user, access = await resolved(self._users.get(user_id))
                not_before_s = user.tokens_not_before_s
            except NotFound:
                access, not_before_s = NOTHING, NEVER_S  # erased
            except PersistenceError:
                await trio.sleep(RETRY_SECONDS)
                continue
            for listener in self._tokens_listeners:
                listener(user_id, not_before_s)
            for observer in self._observers.get(user_id, ()):
                observer.recheck(capped_to(access, capped=observer in self._capped))
            return
