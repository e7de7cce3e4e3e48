"""Fan-out: a channel tells its subscribers what the turns of one actor have changed.

`publish` and `subscribe` are synchronous, so a snapshot and the subscription to what follows it are one step. Up to
50 subscribers are served within `publish`, the rest by one task that walks them in slices of 50, or of a megabyte,
with a checkpoint between, because a walk of thousands would hold up everything else. While that task walks, further
publications only queue: each subscriber is sent everything it has not had in one `offer`. Where a turn may have moved
the audiences of many, that task first computes them, in slices too: whoever may look no longer is sent nothing of that
turn.

Nothing here waits for a socket: whoever takes no more is passed over (`delivery.py`).

A channel outlives its actor's restarts; `live` says whether there is a state at present.
"""

from collections.abc import Iterable
from typing import Any

import trio

from actors.errors import Refused
from actors.kernel.delivery import SLICE, deliver, pass_over
from actors.kernel.group import NOTHING, Group, GroupKey, Publication, Shown, group_key
from actors.kernel.kind import Moved
from actors.kernel.replay_buffer import ReplayBuffer
from actors.kernel.resuming import missed_by
from actors.kernel.sink import Prepared
from actors.kernel.subscription import INTERNAL, OUTSIDE, Common, Owner, Subscription, WatchRequest
from actors.kernel.supervisor import Contained

NOWHERE = -1
"""The offset before every other."""


class Channel:
    """The subscribers of one owner or view.

    Args:
        shown: the kind or view whose state is shown.
        id: the id of the owner or view.
        common: what all channels of a system share.
        owner: told when the last subscriber has left.
    """

    __slots__ = (
        "_common", "_groups", "_owner", "_publications", "_recent", "_subscriptions", "_unplaced",
        "epoch", "id", "live", "offset", "published", "reframed_at", "reframings", "shown", "state",
    )  # fmt: skip

    def __init__(self, shown: Shown, id: str, common: Common, owner: Owner) -> None:
        self.shown = shown
        self.id = id
        self._common = common
        self._owner: Owner | None = owner
        self.live = False
        self.state: Any = None
        self.epoch = ""
        self.offset = 0
        self._recent: ReplayBuffer | None = None  # until something happens
        self.reframed_at = NOWHERE  # where the snapshot last changed by what has no offset of its own
        self.published = 0
        self.reframings = 0
        # Those that some subscription has not had, numbered without a gap. Lists and tuples, here and below, because
        # there are thousands of channels with one subscriber: a deque is 0.6 KB, a dict of one group 0.2 KB, None free.
        self._publications: list[Publication] | None = None
        # None while no task walks; else how many turns may have moved everybody's audience, which it computes first
        self._unplaced: int | None = None
        # Each knows its index, so that leaving costs no search: the last one moves into the place that is left.
        self._subscriptions: list[Subscription] = []
        self._groups: tuple[Group, ...] = ()

    def __len__(self) -> int:
        return len(self._subscriptions)

    # -- the actor's side ---------------------------------------------------------------------------

    def attach(self, epoch: str, offset: int, state: Any, *, stale: bool = False) -> None:
        """Take a loaded state. Lagging subscribers catch up; all get a snapshot if the state is not the one they had.

        Args:
            epoch: the name of the history that offsets belong to.
            offset: the offset of the last event in the state.
            state: the committed state.
            stale: what subscribers have been shown is older, although no event with an offset lies between.
        """
        moved = stale or (epoch, offset) != (self.epoch, self.offset)
        if epoch != self.epoch:
            self.reframed_at = NOWHERE
        elif stale:
            self.reframed_at = offset
        self.live, self.epoch, self.offset, self.state = True, epoch, offset, state
        if moved:
            self._recent = None
        if not self._subscriptions:
            return
        self._place_each(self._subscriptions.copy())
        if moved:
            self._tell([], reframing=0, whole=True)
        for subscription in self._subscriptions.copy():
            if subscription.is_lagging:
                subscription.catch_up()

    def belong_to(self, owner: Owner) -> None:
        """Have another actor, copy or view told from now on when the last subscriber has left."""
        self._owner = owner

    def detach(self) -> None:
        """Note that there is no state at present; subscribers stay and wait for the next one."""
        self.live = False

    def part(self) -> None:
        """Let go of the owner, which has left for good: the two refer to each other, so that otherwise both, with all
        that they have shown, would stay in memory until the collector looks at its oldest generation, hours later."""
        self._owner = None

    def end(self, code: str) -> None:
        """End every subscription, because what it showed no longer exists; clients are sent `code` as the reason."""
        for subscription in self._subscriptions.copy():
            subscription.end(code)

    def publish(
        self,
        state: Any,
        events: list[tuple[int | None, Any]],
        *,
        moves: Moved,
        reframing: int,
        sizes: Iterable[int] = (),
        rewrites: bool = False,
    ) -> None:
        """Tell subscribers what a committed turn has changed.

        Args:
            state: the committed state.
            events: (offset, event) in order; the offset is None outside the journal.
            moves: whose audiences may have changed and are computed again.
            reframing: how many of the events change the snapshot.
            sizes: the encoded bytes of each event that has an offset, in order; one that is left out counts as 0.
            rewrites: past events, these included, may read differently now; they are replayed from the journal only.
        """
        self.state = state
        remaining = iter(sizes)
        for offset, event in events:
            if offset is not None:
                recent = self._recent = self.recent
                recent.record(offset, event, next(remaining, 0))
                self.offset = offset
            elif reframing and getattr(event, "reframes", True):  # a mere source of a view always does
                self.reframed_at = self.offset
        if rewrites:
            self._recent = None
        if self._subscriptions:
            unplaced = moves is True and len(self._subscriptions) > SLICE
            if moves and not unplaced:
                self._place_each(
                    [one for one in self._subscriptions if moves is True or one.user_id in moves]
                )
            self._tell(events, reframing=reframing, unplaced=unplaced)

    # -- the viewers' side --------------------------------------------------------------------------

    def subscribe(self, request: WatchRequest, older: list[tuple[int, Any]] | None) -> Subscription:
        """Admit a viewer: `opened`, the first frame and the place in the walk in one synchronous step.

        Args:
            request: who watches, in which form, and over which socket.
            older: the journal's events after `request.since`, without a gap; None when they are not known.

        Raises: Refused when the viewer may not subscribe; then there is no subscription.
        """
        key = group_key(
            request.channel,
            request.envelope,
            request.mode == "delta",
            self.shown.rendering.audience(self.state, request.viewer),
        )
        group = self._group(key)
        missed = missed_by(self, request, older)
        replayed = None if missed is None else group.replay(self.state, missed)
        first = group.snapshot(0) if replayed is None else replayed
        request.opened(self.epoch, self.offset, replayed is not None)
        # From here on nothing can fail: a subscription is either complete or has never existed.
        self._join(group)
        subscription = Subscription(group, request.sink, request.viewer)
        subscription.index = len(self._subscriptions)
        self._subscriptions += [subscription]  # which makes room for one, where `append` does for four
        subscription.at = self.published
        if first is not NOTHING and not request.sink.offer(first):
            pass_over(self, subscription, self._common.counters)
        return subscription

    @property
    def recent(self) -> ReplayBuffer:
        """The newest events since the state was attached."""
        return self._recent or ReplayBuffer(self.offset)

    @property
    def replay_bytes(self) -> int:
        """Encoded bytes of the events that are held to be replayed."""
        return 0 if self._recent is None else self._recent.bytes

    def slim(self, state: Any) -> None:
        """Take a state that holds less of the same, and hold no events: replays come from the journal.

        Args:
            state: the newest committed state without what rows hold as well.
        """
        self.state = state
        self._recent = None

    def some(self, most: int) -> list[Subscription]:
        """Return the first subscriptions, at most `most` of them."""
        return self._subscriptions[:most]

    def holds(self, subscription: Subscription) -> bool:
        """True while the subscription has been neither closed nor ended."""
        return subscription.index != OUTSIDE

    def leave(self, subscription: Subscription) -> None:
        """Remove a subscription; does nothing when it is not held."""
        if subscription.index == OUTSIDE:
            return
        last = self._subscriptions.pop()
        if last is not subscription:
            self._subscriptions[subscription.index] = last
            last.index = subscription.index
        subscription.index = OUTSIDE
        self._vacate(subscription.group)
        if not self._subscriptions and self._owner is not None:
            self._owner.unwatched()

    def place(self, subscription: Subscription) -> bool:
        """Compute the audience of a subscription again; True when it has changed. A refusal ends the subscription."""
        return self.live and self._place(subscription)

    def _place(self, subscription: Subscription) -> bool:
        old = subscription.group
        try:
            audience = self.shown.rendering.audience(self.state, subscription.viewer)
        except Refused as refused:
            subscription.end(refused.code)
            return False
        if audience == old.key.audience:
            return False
        group = self._group(old.key._replace(audience=audience))
        self._join(group)
        subscription.group = group
        self._vacate(old)
        return True

    @property
    def unplaced(self) -> int:
        """How many turns may have moved everybody's audience, and still have it to be computed."""
        return self._unplaced or 0

    # -- what groups ask ----------------------------------------------------------------------------

    @property
    def groups(self) -> int:
        """How many groups the subscribers form."""
        return len(self._groups)

    def unheard(self, at: int) -> list[Publication]:
        """The publications after number `at`, oldest first."""
        publications = self._publications
        return [] if publications is None else publications[max(0, at + 1 - publications[0].number) :]

    def reframings_before(self, at: int) -> int:
        """Return how many reframing events there were when a subscription now at `at` was last served."""
        unheard = self.unheard(at)
        return unheard[0].reframings_before if unheard else self.reframings

    def offer_to(self, user_id: str, group: Group, prepared: Prepared) -> None:
        """Offer to those members of a group that belong to one user; a full socket drops it: such events have no
        offset."""
        for subscription in self._subscriptions.copy():
            if (
                subscription.group is group
                and not subscription.is_lagging
                and subscription.user_id == user_id
            ):
                subscription.sink.offer(prepared)

    # -- walking ------------------------------------------------------------------------------------

    def _tell(
        self,
        events: list[tuple[int | None, Any]],
        *,
        reframing: int,
        whole: bool = False,
        unplaced: bool = False,
    ) -> None:
        self.published += 1
        self._forget()
        publication = Publication(
            self.published,
            self.state,
            events,
            reframings_before=self.reframings,
            reframes=reframing > 0,
            whole=whole,
        )
        if self._publications is None:
            self._publications = [publication]
        else:
            self._publications.append(publication)
        self.reframings += reframing
        if self._unplaced is not None:
            self._unplaced += unplaced
        elif unplaced or not self._serve_all():
            self._unplaced = int(unplaced)
            self._common.start(self._send)
        else:
            self._drop_had(self.published)

    def _serve_all(self) -> bool:
        """Serve as many subscriptions as one step may; returns whether these were all."""
        everybody = len(self._subscriptions)
        return deliver(self, self._subscriptions[:SLICE], self._common.counters) == everybody

    async def _send(self) -> None:
        """Serve all subscriptions that are behind, slice by slice, until none is."""
        try:
            while True:
                while self.unplaced > 0:
                    await self._place_all()
                upto = self.published
                behind = [one for one in self._subscriptions if one.at < upto]
                if not behind:
                    break
                first = 0
                while first < len(behind):
                    await trio.lowlevel.checkpoint()
                    if self.unplaced:
                        break
                    first += deliver(self, behind[first : first + SLICE], self._common.counters)
                else:
                    self._drop_had(upto)
        finally:
            self._unplaced = None
            self._drop_had(self.published)

    def _drop_had(self, upto: int) -> None:
        """Drop the publications up to this number, which all subscriptions have had."""
        publications = self._publications
        if publications is not None:
            if publications[-1].number <= upto:
                self._publications = None
            else:
                del publications[: upto + 1 - publications[0].number]
        self._forget()

    def _forget(self) -> None:
        """Drop what is encoded: what subscribers have not had is more now, or nothing."""
        for group in self._groups:
            group.forget()

    # -- placing ------------------------------------------------------------------------------------

    async def _place_all(self) -> None:
        """Compute the audiences of all, slice by slice, also of those whose socket is full."""
        turns, everybody = self.unplaced, self._subscriptions.copy()
        for first in range(0, len(everybody), SLICE):
            await trio.lowlevel.checkpoint()
            self._place_each([one for one in everybody[first : first + SLICE] if self.holds(one)])
        self._unplaced = self.unplaced - turns

    def _place_each(self, some: list[Subscription]) -> None:
        for subscription in some:
            with Contained("computing an audience", self.shown.name, self.id) as placing:
                self._place(subscription)
            if placing.fault is not None:
                subscription.end(INTERNAL)

    def _group(self, key: GroupKey) -> Group:
        """Return the group with this key, or a new one without members."""
        for group in self._groups:
            if group.key == key:
                return group
        return Group(self, key)

    def _join(self, group: Group) -> None:
        if not group.size:
            self._groups = (*self._groups, group)
        group.size += 1

    def _vacate(self, group: Group) -> None:
        group.size -= 1
        if not group.size:
            self._groups = tuple(one for one in self._groups if one is not group)
