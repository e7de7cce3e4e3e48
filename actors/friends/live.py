"""The live side of friends: made once, asked by everything that shows a user to another, told of every change.

A change of a user reaches only those who watch that user; without a watcher nothing happens.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager

from actors.friends.circles import Circles
from actors.friends.events import Between, LinkChanged, RelationChanged
from actors.friends.public import Appearance
from actors.friends.view import FACE, RENAMED, FriendsRules
from actors.friends.visibility import Stored, Told, Turns, Visibilities
from actors.friends.watched_users import Sources, WatchedUsers
from actors.users.presence import Presence
from actors.users.users import Users
from persistence.friends.visibilities import Visibility

Touched = Callable[[str, Sequence[str], str], None]
"""Tells views that a source of theirs has changed: `System.touched`, or `System.touched_everywhere`."""

TouchedBeingRead = Callable[[str, str], None]
"""Tells views for which rows are being read that a source has changed: `System.touched_being_read`."""


class FriendsLive:
    """The live side of friends (see the module).

    Args:
        presence: knows who is online.
        users: knows the names of users, and when they were last seen.
        visibilities: who hides what from whom; the same object that chat asks.
        now_ms: returns epoch milliseconds; the first call gives the time of the service's start.
        party_of: returns the id of the party that a user is in; None for none.
        circles: the friends of users, as far as they are in memory.

    Attributes:
        view: the view of a user's friends, which the kernel runs.
        circles: the friends of users, as far as they are in memory.
    """

    def __init__(
        self,
        presence: Presence,
        users: Users,
        visibilities: Visibilities,
        now_ms: Callable[[], int],
        *,
        party_of: Callable[[str], str | None],
        circles: Circles,
    ) -> None:
        self.circles = circles
        self._turns = Turns()  # of two users, in the order of their ids
        self._presence = presence
        self._users = users
        self._visibilities = visibilities
        self._watched = WatchedUsers(
            Sources(
                presence=presence,
                visibilities=visibilities,
                party_of=party_of,
                last_seen_ms=users.last_seen_ms,
                started_at_ms=presence.begun_at_ms,
            )
        )
        self.view = FriendsRules(self._watched, visibilities, now_ms, self._tell).view()
        self._touched: Touched = _nobody
        self._touched_everywhere: Touched = _nobody
        self._touched_being_read: TouchedBeingRead = _nobody_reads
        self._listeners: list[Callable[[str, str, bool], None]] = []

    def follow(
        self, touched: Touched, touched_everywhere: Touched, touched_being_read: TouchedBeingRead
    ) -> None:
        """Subscribe to changes of presence and of names, and mark the views of friends that show them.

        Args:
            touched: `System.touched` of the system that runs the view.
            touched_everywhere: `System.touched_everywhere` of that system, for changes that one node alone knows of.
            touched_being_read: `System.touched_being_read` of that system.
        """
        self._touched, self._touched_everywhere = touched, touched_everywhere
        self._touched_being_read = touched_being_read
        self._presence.on_change(
            lambda user_id, _online: self._tell(user_id, self._watched.presence_changed(user_id))
        )
        self._users.on_rename(self._renamed)

    def on_visibility_change(self, listener: Callable[[str, str, bool], None]) -> None:
        """Call `listener(viewer_id, user_id, to_friends)` when this user may look online to the viewer, or offline, who
        did not so far; `to_friends` is False where that holds only for what shows a user to strangers, too."""
        self._listeners.append(listener)

    # -- asking -------------------------------------------------------------------------------------

    def hides(self, user_id: str, viewer_id: str) -> bool:
        """Whether a user looks offline to this viewer, whether they are or not."""
        return self._visibilities.of(user_id, viewer_id) == "HIDDEN"

    def parted(self, one_id: str, other_id: str) -> bool:
        """Whether a block stands between two users."""
        return self._visibilities.parted(one_id, other_id)

    def hidden_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        """Those of the users who look offline to this viewer, whether they are or not."""
        return self._visibilities.hidden_among(viewer_id, ids)

    def friends_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        """Those of the users who are friends of this viewer; none while `circles` has not loaded them."""
        return self.circles.among(viewer_id, ids)

    def visibility_of(self, holder_id: str, viewer_id: str) -> Visibility:
        """What the viewer may see of the holder; `HIDDEN` where a block stands between them."""
        return self._visibilities.of(holder_id, viewer_id)

    def appearance(self, user_id: str, viewer_id: str, last_seen_at_ms: int | None = None) -> Appearance:
        """What one user sees of another now, as live frames show it.

        Args:
            last_seen_at_ms: when rows say that they were last seen, epoch milliseconds; used unless this process knows
                better.
        """
        return self._watched.appearance(user_id, viewer_id, last_seen_at_ms)

    # -- being told ---------------------------------------------------------------------------------

    def changed(self, one_id: str, other_id: str) -> None:
        """Update the views of both users after a commit: a link, request or block of the two has changed."""
        self._touched(self.view.name, (one_id,), other_id)
        self._touched(self.view.name, (other_id,), one_id)

    def streak_changed(self, one_id: str, other_id: str) -> None:
        """Update the views of both users on all nodes: this one has written a day on which they were in touch."""
        self._touched_everywhere(self.view.name, (one_id,), other_id)
        self._touched_everywhere(self.view.name, (other_id,), one_id)

    def visibility_changed(
        self, holder_id: str, viewer_id: str, visibility: Visibility, turn: int | None = None
    ) -> None:
        """Take in what a viewer may see of the holder of a link now, and tell those who watch.

        Args:
            visibility: the holder's choice; `DEFAULT` also once the link has ended.
            turn: the number of the change; None where no other change can happen at the same time.
        """
        hid = self.hides(holder_id, viewer_id)
        if self._visibilities.change(holder_id, viewer_id, visibility, turn):
            self._tell(holder_id, (viewer_id,))
            # What LIMITED keeps back, only the friend entry shows.
            if self.hides(holder_id, viewer_id) != hid:
                self._announce(holder_id, viewer_id)

    def relation_changed(self, one_id: str, other_id: str, found: Between, turn: int) -> None:
        """Take in how two users stand now, as committed, and tell those who watch.

        Args:
            found: how they stand by the rows that the transaction has read.
            turn: the number of the change, taken in that transaction once both users were locked.
        """
        for holder_id, viewer_id in ((one_id, other_id), (other_id, one_id)):
            visibility = found.visibilities.get(holder_id, "DEFAULT")
            self.visibility_changed(holder_id, viewer_id, visibility, turn)
        if self._turns.is_newest(_pair(one_id, other_id), turn):
            both = (one_id, other_id), (other_id, one_id)
            hid = [self.hides(*pair) for pair in both]
            met = self.circles.changed(one_id, other_id, friends=found.friends)
            parted = self._visibilities.part(one_id, other_id, parted=bool(found.blockers))
            # A request, another reason of a block, or a block by who hides already, changes nobody's looks: a frame
            # equal to the one before it would tell the other that something was done about them.
            for was_hidden, (user_id, viewer_id) in zip(hid, both, strict=True):
                if was_hidden and self.hides(user_id, viewer_id):
                    continue
                if viewer_id in met:
                    self._appeared(user_id, viewer_id)
                elif parted:
                    self._tell(user_id, (viewer_id,))
                    self._announce(user_id, viewer_id, to_friends=False)
        self.changed(one_id, other_id)

    def heard_relation(self, event: RelationChanged) -> None:
        """Take in a change that a process, maybe this one, has announced; does nothing about one that is known."""
        if not self._turns.knows(_pair(event.one_id, event.other_id), event.turn):
            self.relation_changed(event.one_id, event.other_id, event.between, event.turn)

    def heard_link(self, event: LinkChanged) -> None:
        """Take in a choice that a process, maybe this one, has announced; does nothing about one that is known."""
        if not self._visibilities.turns.knows((event.holder_id, event.friend_id), event.turn):
            self.visibility_changed(event.holder_id, event.friend_id, event.visibility, event.turn)
            self.changed(event.holder_id, event.friend_id)

    def reading(self) -> AbstractContextManager[Told]:
        """Collect the changes that come while rows are read, for `restored`."""
        return self._visibilities.reading()

    def restored(self, stored: Stored, told: Told) -> None:
        """Take in what rows say of everybody, because changes may have been missed; tells those who watch.

        Args:
            stored: the rows, read within a block of `reading`.
            told: the changes that this block has collected.
        """
        for user_id, viewer_id in self._visibilities.fill(stored, told):
            self._appeared(user_id, viewer_id)

    async def compare_circles(self) -> None:
        """Take in what rows say of the friends in all circles, where changes may have been missed; tells those who
        watch.

        Raises PersistenceError when rows cannot be read. Cancellation leaves the circles not read yet as they were.
        """
        await self.circles.compare(lambda user_id, other_id: self._appeared(other_id, user_id))

    def party_changed(self, user_id: str) -> None:
        """Update what others see of a user who has joined or left a party."""
        self._tell(user_id, self._watched.party_changed(user_id))

    def statistics(self) -> int:
        """How many users are watched."""
        return len(self._watched)

    def _appeared(self, user_id: str, viewer_id: str) -> None:
        self._tell(user_id, (viewer_id,))
        self._announce(user_id, viewer_id)

    def _announce(self, user_id: str, viewer_id: str, *, to_friends: bool = True) -> None:
        for listener in self._listeners:
            listener(viewer_id, user_id, to_friends)

    def _renamed(self, user_id: str, name: str) -> None:
        self._tell(user_id, self._watched.renamed(user_id, name))
        # Requests are encoded as they are read, and so few that they are read again.
        self._touched(self.view.name, self._watched.request_viewers(user_id), user_id)
        self._touched_being_read(self.view.name, RENAMED + user_id)

    def _tell(self, user_id: str, viewers: Sequence[str]) -> None:
        if viewers:
            self._touched(self.view.name, viewers, FACE + user_id)


def _pair(one_id: str, other_id: str) -> tuple[str, str]:
    return min(one_id, other_id), max(one_id, other_id)


def _nobody(_view_name: str, _ids: Sequence[str], _source: str) -> None:
    """Before the system runs, there are no watchers."""


def _nobody_reads(_view_name: str, _source: str) -> None:
    """As `_nobody`."""
