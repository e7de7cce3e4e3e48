"""Which users are online: those with an open live socket, and for ten seconds after the last one has
closed (contract §5).

In memory: lost when the last node ends, and filled again as sockets reconnect. Where there are several nodes, each is
told by the others when their users came and went, so that all say the same. The grace period keeps a user
whose page reloads, or whose phone changes networks, from flickering in others' lists.
"""

from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush

from actors.kernel.clock import Clock

GRACE_MS = 10_000
"""How long a user stays online after their last socket closed (contract §5)."""

GONE_KEPT = 50_000
"""How many users' times of going offline are remembered, 0.1 KB each."""

PresenceListener = Callable[[str, bool], None]
"""Called with a user id and whether the user is online now; also when they turn out to be online for longer than was
known."""


class Presence:
    """Open live sockets, counted per user. A session on a game server counts as one, too.

    Args:
        clock: the time that grace periods go by.
        begun_at_ms: since when there has been a memory of who is online, epoch milliseconds: a user who has not been
            online since is taken to have gone offline then. None takes the present.
    """

    def __init__(self, clock: Clock, begun_at_ms: int | None = None) -> None:
        self.begun_at_ms = clock.now_ms() if begun_at_ms is None else begun_at_ms
        self._clock = clock
        self._open: dict[str, int] = {}  # {user id: open sockets, at least 1}
        self._leaving: dict[str, int] = {}  # {user id: when the grace ends}
        # The same by time, which is not the order of coming: other nodes tell of the past. Also of those who are back.
        self._ends: list[tuple[int, str]] = []
        self._changed_at_ms: dict[str, int] = {}  # {user id: when they came online}, of those online
        self._gone_at_ms: dict[str, int] = {}  # {user id: when they went offline}, the newest `GONE_KEPT`
        self._listeners: list[PresenceListener] = []
        self._changes = 0

    def opened(self, user_id: str, since_ms: int = 0) -> None:
        """Count one more live socket of a user; each call is matched by one of `closed`.

        Args:
            user_id: the user whose socket it is.
            since_ms: when they came online, as another node knows it, epoch milliseconds; 0 for now.
        """
        self._open[user_id] = self._open.get(user_id, 0) + 1
        if self._leaving.pop(user_id, None) is None and self._open[user_id] == 1:
            self._changed_at_ms[user_id] = since_ms or self._clock.now_ms()
            self._gone_at_ms.pop(user_id, None)
            self._tell(user_id, online=True)
        elif 0 < since_ms < self._changed_at_ms[user_id]:
            self._changed_at_ms[user_id] = since_ms
            self._tell(user_id, online=True)

    def closed(self, user_id: str, at_ms: int = 0) -> None:
        """Count one live socket of a user less; the grace period starts when it was the last.

        Args:
            user_id: the user whose socket it was.
            at_ms: when it closed, as another node knows it, epoch milliseconds; 0 for now. A node whose clock is ahead
                does not prolong the grace period.
        """
        left = self._open[user_id] - 1
        if left:
            self._open[user_id] = left
            return
        del self._open[user_id]
        now_ms = self._clock.now_ms()
        ends_at_ms = self._leaving[user_id] = min(at_ms or now_ms, now_ms) + GRACE_MS
        heappush(self._ends, (ends_at_ms, user_id))

    def is_looking(self, user_id: str) -> bool:
        """Whether a live socket of the user is open."""
        return user_id in self._open

    def is_online(self, user_id: str) -> bool:
        """Whether the user is online at this moment."""
        if user_id in self._open:
            return True
        ends_at_ms = self._leaving.get(user_id)
        return ends_at_ms is not None and ends_at_ms > self._clock.now_ms()

    def online_among(self, user_ids: Iterable[str]) -> list[str]:
        """Those of the users who are online at this moment, in their order."""
        opened, leaving = self._open, self._leaving
        if not leaving:
            return [id for id in user_ids if id in opened]
        now_ms = self._clock.now_ms()
        return [id for id in user_ids if id in opened or leaving.get(id, 0) > now_ms]

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
        """The number of times that listeners were told of any user: a cache made at another number may be outdated."""
        return self._changes

    def on_change(self, listener: PresenceListener) -> None:
        """Call `listener(user_id, online)`, synchronously, when a user comes online or goes offline, or is online since
        another moment."""
        self._listeners.append(listener)

    def tick(self) -> None:
        """Take users offline whose grace period has passed; to be called five times a second."""
        now_ms = self._clock.now_ms()
        while self._ends and self._ends[0][0] <= now_ms:
            ends_at_ms, user_id = heappop(self._ends)
            if self._leaving.get(user_id) != ends_at_ms:
                continue  # back since then, and maybe leaving again
            del self._leaving[user_id]
            self._changed_at_ms.pop(user_id, None)
            self._go(user_id, ends_at_ms)
            self._tell(user_id, online=False)

    def gone(self) -> Mapping[str, int]:
        """When users went offline, as far as that is remembered: {user id: epoch milliseconds}, the newest last."""
        return self._gone_at_ms

    def learn_gone(self, gone: Mapping[str, int]) -> None:
        """Take in when users went offline, as another node remembers it.

        Args:
            gone: {user id: epoch milliseconds}; those who are online, or went later, are passed over.
        """
        for user_id, at_ms in gone.items():
            if user_id not in self._changed_at_ms and self._gone_at_ms.get(user_id, 0) < at_ms:
                self._go(user_id, at_ms)

    def _go(self, user_id: str, at_ms: int) -> None:
        self._gone_at_ms[user_id] = at_ms
        if len(self._gone_at_ms) > GONE_KEPT:
            del self._gone_at_ms[next(iter(self._gone_at_ms))]

    def statistics(self) -> int:
        """The number of users with an open live socket."""
        return len(self._open)

    def _tell(self, user_id: str, *, online: bool) -> None:
        self._changes += 1
        for listener in self._listeners:
            listener(user_id, online)
