"""A user's friends as a view: who they are, how they appear, and the requests that wait (contract §5, §9).

It owns nothing. Links and requests come from rows, encoded as they are read; the friend's part of an entry is the
friend's `WatchedUser`, which all who watch that friend share, so that a change of a friend costs a look at their
viewers and each of these frames a join of what is encoded already.

Four sorts of sources change it: `face:<user id>`, which nothing is read for; a bare user id: whatever is between the
two users is read again; `*`: so is everything; and `renamed:<user id>`, for a view that was being read when the user
got another name: the rows may have had the former one, and nobody knew yet that the view would show the user.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Raw
from msgspec.structs import replace

from actors.friends import frames
from actors.friends.state import FriendsState, Read, Waiting, absorb, state_of
from actors.friends.view_events import Appeared, EntryChanged
from actors.friends.visibility import Visibilities
from actors.friends.watched_users import WatchedUser, WatchedUsers
from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import Event, Peek, View
from actors.own_views import owner_only
from persistence.connection import Connection
from persistence.friends import links, requests

NAME = "friends"
"""The name of the view and of its channel."""

FACE = "face:"
"""Prefix of a source that names a friend whose appearance has changed."""

RENAMED = "renamed:"
"""Prefix of a source that names a user who may be shown by a former name, because rows were read as it changed."""

EVERYTHING = "*"
"""The source that stands for everybody: changes may have been missed."""

ENTRIES_KEPT = 131_072
"""Most encoded own parts in memory, about 0.3 KB each."""


class OwnParts:
    """The encoded `own_parts` of views that change often: a few, the newest, because there are more views than room."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[FriendsState, list[bytes]]] = {}
        self._entries = 0

    def of(self, state: FriendsState) -> list[bytes]:
        """The own parts of a state, encoded now if they are not kept."""
        kept = self._kept.get(state.user_id)
        if kept is not None and kept[0].records is state.records and kept[0].extras is state.extras:
            return kept[1]
        return frames.own_parts(state)

    def keep(self, state: FriendsState) -> None:
        """Encode and keep the own parts of a view that has changed, because it is likely to change again."""
        owns = self.of(state)
        kept = self._kept.get(state.user_id)
        if kept is not None and kept[1] is owns:
            return
        self.forget(state.user_id)
        self._kept[state.user_id] = state, owns
        self._entries += len(owns)
        while self._entries > ENTRIES_KEPT:
            self.forget(next(iter(self._kept)))

    def forget(self, user_id: str) -> None:
        """Drop the own parts of a user's view."""
        kept = self._kept.pop(user_id, None)
        if kept is not None:
            self._entries -= len(kept[1])


class FriendsRules:
    """The functions of the view, and what they share.

    Args:
        watched: all users who are watched.
        visibilities: who hides what from whom.
        now_ms: returns epoch milliseconds; a request past its expiry does not exist.
        appeared: told of a user who shows otherwise, and of the viewers who see that.
    """

    def __init__(
        self,
        watched: WatchedUsers,
        visibilities: Visibilities,
        now_ms: Callable[[], int],
        appeared: Callable[[str, Sequence[str]], None],
    ) -> None:
        self._watched = watched
        self._visibilities = visibilities
        self._now_ms = now_ms
        self._appeared = appeared
        self._owns = OwnParts()

    def view(self) -> View[FriendsState]:
        """Make the record that the kernel runs."""
        return View(
            name=NAME,
            load=self.load,
            load_many=self.load_many,
            reread=self.reread,
            take=take,
            absorb=absorb,
            rendering=Rendering(audience=owner_only, render=self.render, render_event=self.render_event),
            adopt=self.adopt,
            release=self.release,
            events=self.events,
            differing=differing,
        )

    async def load(self, conn: Connection, user_id: str) -> FriendsState:
        """Read a user's friends and requests; a user without any has an empty state."""
        return (await self.load_many(conn, [user_id]))[user_id]

    async def load_many(self, conn: Connection, user_ids: Sequence[str]) -> dict[str, FriendsState]:
        """{user id: what `load` returns}."""
        linked = await links.of_users(conn, user_ids)
        asked = await requests.of_users(conn, user_ids, self._now_ms())
        return {id: state_of(id, linked[id], frames.all_waiting(asked[id], id)) for id in user_ids}

    async def reread(self, conn: Connection, user_id: str, sources: AbstractSet[str]) -> Read:
        """Read what is between the user and the users named by `sources`, and all requests of the user."""
        whole = EVERYTHING in sources
        rows = await (links.of_user(conn, user_id) if whole else links.named(conn, user_id, list(sources)))
        found = {link.friend_id: link for link in rows}
        ended = {} if whole else dict.fromkeys(sources - found.keys())
        asked = await requests.of_user(conn, user_id, self._now_ms())
        return Read(ended | found, frames.all_waiting(asked, user_id), whole)

    # -- who watches whom ---------------------------------------------------------------------------

    def adopt(self, before: FriendsState | None, after: FriendsState) -> FriendsState:
        """The next state with the shared records of friends in place of its own, watched as long as it shows them."""
        was = FriendsState(after.user_id) if before is None else before
        self._adopt_requests(was, after)
        if after.friends is was.friends:
            return after
        former = {friend.id: friend for friend in was.friends}
        friends = tuple(
            self._shared(former.pop(friend.id, None), friend, after.user_id) for friend in after.friends
        )
        for friend in former.values():
            self._watched.leave(friend, after.user_id)
        return replace(after, friends=friends)

    def _shared(self, known: WatchedUser | None, read: WatchedUser, viewer_id: str) -> WatchedUser:
        """The shared record of a friend: the one that the view watches already, or that of all who watch the friend.

        Args:
            known: the one that the view watches; None if it does not watch the friend yet.
            read: the one made of rows.
        """
        if known is None:
            return self._watched.share(read, viewer_id)
        if known.name != read.name:
            # Rows that are older than a rename have been marked `RENAMED` by it, and are read once more.
            self._appeared(read.id, self._watched.renamed(read.id, read.name))
        return known

    def release(self, state: FriendsState) -> None:
        """Stop watching the friends of a view whose last viewer has left."""
        self._owns.forget(state.user_id)
        self.adopt(state, FriendsState(state.user_id))

    def _adopt_requests(self, before: FriendsState, after: FriendsState) -> None:
        if before.waiting == after.waiting:
            return
        was = {one.other_id for one in before.waiting}
        is_now = {one.other_id for one in after.waiting}
        for id in is_now - was:
            self._watched.add_request_viewer(id, after.user_id)
        for id in was - is_now:
            self._watched.remove_request_viewer(id, after.user_id)

    # -- what viewers see ---------------------------------------------------------------------------

    def render(self, state: FriendsState, _audience: None) -> Raw:
        """The `friends_snapshot`."""
        restrictions = self._visibilities.restrictions_for(state.user_id)
        return Raw(frames.snapshot(self._watched, restrictions, state, self._owns.of(state), self._now_ms()))

    def events(self, before: FriendsState, after: FriendsState, sources: Collection[str]) -> Sequence[Event]:
        """The events that tell viewers of the step from one state to the next."""
        self._owns.keep(after)
        appeared = [Appeared(source.removeprefix(FACE)) for source in sources if source.startswith(FACE)]
        if before is after:
            return appeared
        told: list[Event] = []
        was, is_now = before.links(), after.links()
        for id in was | is_now if EVERYTHING in sources else sources:
            old, new = was.get(id), is_now.get(id)
            if new is None:
                if old is not None:
                    told.append(EntryChanged("friend_removed", b'{"friendId":"%b"}' % id.encode()))
            elif old != new:
                friend, record, extra = new
                part = self._part(friend, after.user_id)
                told.append(EntryChanged("friend_added", frames.whole(part, record, extra, self._now_ms())))
        told += _asked(before.waiting, after.waiting)
        # Last: somebody who appears otherwise may be a friend only now; those who are none, nothing shows.
        shown = is_now.keys() | {after.user_id}
        return [*told, *(one for one in appeared if one.friend_id in shown)]

    def render_event(
        self, state: FriendsState, event: Appeared | EntryChanged, _audience: None
    ) -> Delta | None:
        """The event as viewers are sent it; None if it is about a user who is no longer a friend."""
        if isinstance(event, EntryChanged):
            return Delta(event.name, Raw(event.data))
        for friend in state.friends:
            if friend.id == event.friend_id:
                return Delta("presence", Raw(self._part(friend, state.user_id) + b"}"))
        return None

    def _part(self, friend: WatchedUser, viewer_id: str) -> bytes:
        return self._watched.part(friend, self._visibilities.of(friend.id, viewer_id))


def take(
    state: FriendsState, sources: AbstractSet[str], _peek: Peek
) -> tuple[FriendsState, AbstractSet[str]]:
    """The state unchanged, and whatever has to be read from rows: all but changes of appearance, and of the names of
    users whom the view does not show."""
    unknown = {source for source in sources if not source.startswith((FACE, RENAMED))}
    renamed = {source.removeprefix(RENAMED) for source in sources if source.startswith(RENAMED)}
    if renamed:
        unknown |= renamed.intersection(friend.id for friend in state.friends)
        unknown |= renamed.intersection(one.other_id for one in state.waiting)
    return state, unknown


def differing(shown: FriendsState, stored: FriendsState) -> Collection[str]:
    """The source with which a view that does not say what its rows say reads all of them again."""
    return () if shown.says_the_same(stored) else (EVERYTHING,)


def _asked(before: Sequence[Waiting], after: Sequence[Waiting]) -> Iterator[Event]:
    """The events of requests that came, went or changed."""
    if before == after:
        return
    was, is_now = {one.id: one for one in before}, {one.id for one in after}
    for one in before:
        if one.id not in is_now:
            yield EntryChanged("request_removed", b'{"id":"%b"}' % one.id.encode())
    for one in after:
        if was.get(one.id) != one:
            yield EntryChanged("request_added", one.record)
