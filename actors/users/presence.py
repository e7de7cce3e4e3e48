"""Which users are online: those with an open live socket, and for ten seconds after the last one has
closed (contract §5).

In memory of this process: lost at a restart, and filled again as sockets reconnect. The grace period keeps a user
whose page reloads, or whose phone changes networks, from flickering in others' lists.
"""

from collections.abc import Callable

from actors.kernel.clock import Clock

GRACE_MS = 10_000
"""How long a user stays online after their last socket closed (contract §5)."""

GONE_KEPT = 50_000
"""How many users' times of going offline are remembered, 0.1 KB each."""

PresenceListener = Callable[[str, bool], None]
"""Called with a user id and whether the user is online now."""


class Presence:
    """Open live sockets, counted per user. A session on a game server counts as one, too.

    Args:
        clock: tells when a grace period has passed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[str, int] = {}  # {user id: open sockets, at least 1}
        self._leaving: dict[str, int] = {}  # {user id: when the grace ends}, in the order of ending
        self._changed_at_ms: dict[str, int] = {}  # {user id: when they came online}, of those online
        self._gone_at_ms: dict[str, int] = {}  # {user id: when they went offline}, the newest `GONE_KEPT`
        self._listeners: list[PresenceListener] = []
        self._changes = 0

    def opened(self, user_id: str) -> None:
        """Count one more live socket of a user; each call is matched by one of `closed`."""
        self._open[user_id] = self._open.get(user_id, 0) + 1
        if self._leaving.pop(user_id, None) is None and self._open[user_id] == 1:
            self._changed_at_ms[user_id] = self._clock.now_ms()
            self._gone_at_ms.pop(user_id, None)
            self._tell(user_id, online=True)

    def closed(self, user_id: str) -> None:
        """Count one live socket of a user less; the grace period starts when it was the last."""
        left = self._open[user_id] - 1
        if left:
            self._open[user_id] = left
            return
        del self._open[user_id]
        self._leaving[user_id] = self._clock.now_ms() + GRACE_MS

    def is_looking(self, user_id: str) -> bool:
        """Whether a live socket of the user is open."""
        return user_id in self._open

    def is_online(self, user_id: str) -> bool:
        """Whether the user is online at this moment."""
        if user_id in self._open:
            return True
        ends_at_ms = self._leaving.get(user_id)
        return ends_at_ms is not None and ends_at_ms > self._clock.now_ms()

    def online_since_ms(self, user_id: str) -> int | None:
        """When the user came online, epoch milliseconds; None when they are not."""
        return self._changed_at_ms.get(user_id) if self.is_online(user_id) else None

    def told_since_ms(self, user_id: str) -> int | None:
        """When the user came online, as listeners know it: they hear of the end of a grace period up to 200 ms late.

        Views that show users and listen for changes ask this, so that both always agree.
        """
        return self._changed_at_ms.get(user_id)

    def offline_since_ms(self, user_id: str) -> int | None:
        """When the user went offline, epoch milliseconds; None when that is not remembered."""
        return self._gone_at_ms.get(user_id)

    def changes(self) -> int:
        """The number of times that any user came online or went offline: a cache made at another number
        may be outdated.
        """
        return self._changes

    def on_change(self, listener: PresenceListener) -> None:
        """Call `listener(user_id, online)`, synchronously, when a user comes online or goes offline."""
        self._listeners.append(listener)

    def tick(self) -> None:
        """Take users offline whose grace period has passed; to be called five times a second."""
        now_ms = self._clock.now_ms()
        while self._leaving:
            user_id, ends_at_ms = next(iter(self._leaving.items()))
            if ends_at_ms > now_ms:
                return
            del self._leaving[user_id]
            self._changed_at_ms.pop(user_id, None)
            self._gone_at_ms[user_id] = ends_at_ms
            if len(self._gone_at_ms) > GONE_KEPT:
                del self._gone_at_ms[next(iter(self._gone_at_ms))]
            self._tell(user_id, online=False)

    def statistics(self) -> int:
        """The number of users with an open live socket."""
        return len(self._open)

    def _tell(self, user_id: str, *, online: bool) -> None:
        self._changes += 1
        for listener in self._listeners:
            listener(user_id, online)
