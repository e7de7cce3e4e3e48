"""Revocation on open sockets: whoever runs a stream is told when its user's rights have moved (contract §2).

Rights are asked in one task for all sockets, a user at a time, so that a role that thousands hold costs no
storm. A store that cannot be asked is asked again: nobody keeps a stream because the question failed, nobody
loses it either, and requests are refused meanwhile.
"""

from typing import Protocol

import trio

from actors.errors import Forbidden, NotFound
from actors.users.permissions import capped_to, resolve
from actors.users.users import Users
from persistence.errors import PersistenceError
from persistence.users.permissions import Grant
from routes.edge.principal import Access

RETRY_SECONDS = 0.5
"""Between two attempts while the store cannot be asked; a revocation shows within 2 s of its return."""

FORBIDDEN = Forbidden.code
"""Why a subscription ends whose viewer has lost the permission node."""


NOTHING = resolve((), [Grant(node, negated=True) for node in ("*", "*:*", "*:*:*")], frozenset(), 0)
"""The rights of somebody who is no more: every node is taken away."""


class RightsObserver(Protocol):
    """Whoever runs a stream."""

    def recheck(self, access: Access) -> None:
        """The user's rights are these now: end what they no longer cover. Never waits, never raises."""
        ...


class Rights:
    """Who runs streams, and whose rights are to be asked again.

    Args:
        users: knows what everybody may do.
    """

    def __init__(self, users: Users) -> None:
        self._users = users
        self._followers: dict[
            str, tuple[RightsObserver, ...]
        ] = {}  # {user id: who runs one of their streams}
        # Those whose token's issuer does not speak for super-admins.
        self._capped: set[RightsObserver] = set()
        self._moved: dict[str, None] = {}  # user ids still to be asked about, in order
        self._wake = trio.Event()

    def follow(self, user_id: str, follower: RightsObserver, known: Access, *, capped: bool = False) -> None:
        """Tell this stream whenever the user's rights may have moved, until `unfollow`.

        Args:
            user_id: whose stream it is.
            follower: told synchronously, from any task.
            known: the rights that it was opened with. Where others are true by now, which nobody was told of
                in between, it is told at once.
            capped: as in `UserPrincipal`, of who opened it.
        """
        self._followers[user_id] = (*self._followers.get(user_id, ()), follower)
        if capped:
            self._capped.add(follower)
        access = self._users.peek_access(user_id)
        if access is None:
            self.moved(user_id)
        elif capped_to(access, capped=capped) is not known:
            follower.recheck(capped_to(access, capped=capped))

    def unfollow(self, user_id: str, follower: RightsObserver) -> None:
        """Tell it no more; once for each `follow`."""
        self._capped.discard(follower)
        others = tuple(one for one in self._followers[user_id] if one is not follower)
        if others:
            self._followers[user_id] = others
        else:
            del self._followers[user_id]

    def moved(self, user_id: str) -> None:
        """The rights of this user, or with "" anybody's, may have changed; as `Users` tells."""
        if user_id:
            if user_id not in self._followers:
                return
            self._moved[user_id] = None
        else:
            self._moved.update(dict.fromkeys(self._followers))
        self._wake.set()

    async def keep(self) -> None:
        """Tell the streams, for as long as the service runs; ends by cancellation only."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            while self._moved:
                user_id = next(iter(self._moved))
                del self._moved[user_id]
                try:
                    await self._ask(user_id)
                except BaseException:
                    self.moved(user_id)  # whoever begins anew asks again, behind the others
                    raise

    async def _ask(self, user_id: str) -> None:
        while user_id in self._followers:
            try:
                access = await self._users.access_of(user_id)
            except NotFound:
                access = NOTHING  # erased: whoever slipped in beside the end of their sockets sees no more
            except PersistenceError:
                await trio.sleep(RETRY_SECONDS)
                continue
            for follower in self._followers.get(user_id, ()):
                follower.recheck(capped_to(access, capped=follower in self._capped))
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
