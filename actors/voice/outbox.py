"""Orders for voice nodes, each kept until its node has acknowledged it: nodes are never called, they ask.

Of an order and its opposite only the later one is kept, and a mute not beyond a removal: whoever comes back is muted by
their next token, or not any more, and a node that is late would silence them by what was said before. All of it is in
memory: after a restart the orders are made again from the channels, under a new epoch, which a node's cursor shows not
to know.
"""

from typing import Literal, TypeAlias

import msgspec

ACTION_MS = 10 * 60 * 1000
"""How long an order is repeated; a token that was given before it has ended by then."""

MOST_ACTIONS = 5_000
"""Most orders that are kept for one node; beyond it the oldest is dropped."""

AT_ONCE = 500
"""Most orders in one answer to a node."""

ActionKind: TypeAlias = Literal["mute", "unmute", "remove", "close"]

_REPLACED: dict[ActionKind, tuple[ActionKind, ...]] = {
    "mute": ("mute", "unmute"),
    "unmute": ("mute", "unmute"),
    "remove": ("remove", "mute"),
    "close": ("close",),
}
"""Which earlier orders about the same user an order takes the place of."""


class Action(msgspec.Struct, frozen=True):
    """One order.

    Args:
        number: its number, counted within the epoch.
        kind: what the node has to do.
        user_id: the user whom it concerns; None for `close`.
        not_before_s: tokens of this user for this channel with an older `nbf` are void, epoch seconds.
        at_ms: when it was given, epoch milliseconds.
    """

    number: int
    kind: ActionKind
    channel_id: str
    user_id: str | None
    not_before_s: int
    at_ms: int


class Outbox:
    """The orders of one node.

    Args:
        epoch: the name of this memory of orders.
    """

    __slots__ = ("_actions", "_epoch", "_number")

    def __init__(self, epoch: str) -> None:
        self._epoch = epoch
        self._number = 0
        # {(kind, channel, user): action}, the oldest first
        self._actions: dict[tuple[ActionKind, str, str | None], Action] = {}

    def __len__(self) -> int:
        return len(self._actions)

    def put(
        self, kind: ActionKind, channel_id: str, user_id: str | None, *, not_before_s: int, now_ms: int
    ) -> None:
        """Give an order.

        Args:
            not_before_s: tokens of the user with an older `nbf` are void, epoch seconds.
        """
        for replaced in _REPLACED[kind]:
            self._actions.pop((replaced, channel_id, user_id), None)
        if len(self._actions) >= MOST_ACTIONS:
            del self._actions[next(iter(self._actions))]
        self._number += 1
        action = Action(self._number, kind, channel_id, user_id, not_before_s, now_ms)
        self._actions[kind, channel_id, user_id] = action

    def acknowledge(self, cursor: str | None) -> bool:
        """Forget what the node has carried out; returns whether the cursor is of this memory.

        Args:
            cursor: the cursor of an earlier answer, as the node sends it back; None for none.
        """
        epoch, _, number = (cursor or "").partition(".")
        if epoch != self._epoch or not number.isascii() or not number.isdigit():
            return False
        done = int(number)
        self._actions = {key: one for key, one in self._actions.items() if one.number > done}
        return True

    def expire(self, now_ms: int) -> None:
        """Forget orders that are older than `ACTION_MS`."""
        while self._actions:
            key, oldest = next(iter(self._actions.items()))
            if oldest.at_ms + ACTION_MS > now_ms:
                return
            del self._actions[key]

    def pending(self) -> list[Action]:
        """The oldest orders, at most `AT_ONCE`."""
        return [one for one, _ in zip(self._actions.values(), range(AT_ONCE), strict=False)]

    def name_of(self, action: Action) -> str:
        """The id of an order on the wire."""
        return f"{self._epoch}.{action.number}"

    def cursor(self) -> str:
        """The cursor with which a node acknowledges all orders that `pending` returns."""
        pending = self.pending()
        return f"{self._epoch}.{pending[-1].number if pending else self._number}"
