"""A user's friends as a view: who they are, how they appear, and the requests that wait (contract §5, §9).

It owns nothing. Links and requests come from rows, encoded as they are read; the friend's part of an entry is the
friend's `Face`, which all who watch that friend share, so that a change of a friend costs a look at their viewers and
each of these frames a join of what is encoded already.

Two sorts of sources change it: `face:<user id>`, which nothing is read for, and a bare user id: whatever is between
the two users is read again.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, NamedTuple

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from actors.errors import Forbidden
from actors.friends import frames
from actors.friends.faces import Face, Faces
from actors.friends.frames import Entry, Waiting
from actors.friends.visibility import Visibilities
from actors.kernel.kind import Delta, Event, Peek, View
from persistence.connection import Connection
from persistence.friends import links, requests
from persistence.friends.links import Link

NAME = "friends"
"""The view's name, and the channel's."""

FACE = "face:"
"""Begins a source that names a friend who appears otherwise now."""


class FriendsViewer(NamedTuple):
    """Who looks."""

    user_id: str


class FriendsState(msgspec.Struct, frozen=True):
    """One user's friends and requests.

    Args:
        entries: friends in the order of acceptance.
        waiting: requests in the order of sending.
    """

    user_id: str
    entries: tuple[Entry, ...]
    waiting: tuple[Waiting, ...]


class Read(msgspec.Struct, frozen=True):
    """What rows say of some friends (None: no friend any more), and of all requests."""

    entries: dict[str, Entry | None]
    waiting: tuple[Waiting, ...]


class Appeared(Event, frozen=True):
    """A friend appears otherwise now; `data` is their part of the entry."""

    journaled: ClassVar[bool] = False
    name: ClassVar[str] = "presence"
    data: bytes


class Between(Event, frozen=True):
    """Something was made, changed or ended between two users; `data` is what the client is told of it."""

    name: str
    data: bytes


class FriendsRules:
    """What the view's functions share.

    Args:
        faces: of all who are watched.
        visibilities: who hides what from whom.
        now_ms: epoch milliseconds; a request past its expiry does not exist.
    """

    def __init__(self, faces: Faces, visibilities: Visibilities, now_ms: Callable[[], int]) -> None:
        self._faces = faces
        self._visibilities = visibilities
        self._now_ms = now_ms

    def view(self) -> View[FriendsState]:
        """The record of the view."""
        return View(
            name=NAME,
            load=self.load,
            reread=self.reread,
            take=take,
            absorb=absorb,
            audience=audience,
            frame=self.frame,
            delta=delta,
            adopt=self.adopt,
            release=self.release,
            events=self.events,
        )

    async def load(self, conn: Connection, user_id: str) -> FriendsState:
        """Friends and requests from rows; everybody has them, be they none."""
        found = await links.of_user(conn, user_id)
        entries = tuple(frames.entry_of(link) for link in sorted(found, key=_accepted))
        return FriendsState(user_id, entries, await self._waiting(conn, user_id))

    async def reread(self, conn: Connection, user_id: str, sources: AbstractSet[str]) -> Read:
        """What is between the user and those named, from rows."""
        entries: dict[str, Entry | None] = dict.fromkeys(sources)
        found = await links.named(conn, user_id, list(sources))
        for link in sorted(found, key=_accepted):
            # Taken out and put in again: new friends follow each other in the order of acceptance.
            del entries[link.friend_id]
            entries[link.friend_id] = frames.entry_of(link)
        return Read(entries, await self._waiting(conn, user_id))

    async def _waiting(self, conn: Connection, user_id: str) -> tuple[Waiting, ...]:
        found = await requests.of_user(conn, user_id, self._now_ms())
        found.sort(key=lambda request: (request.created_at_ms, request.id))
        return tuple(frames.waiting_of(request, user_id) for request in found)

    # -- who watches whom ---------------------------------------------------------------------------

    def adopt(self, before: FriendsState | None, after: FriendsState) -> FriendsState:
        """The state with the faces that everybody shares, watched by it as long as it shows them."""
        old = () if before is None else before.entries
        if after.entries is old:
            return after
        watched = {entry.face.id: entry.face for entry in old}
        entries = []
        for entry in after.entries:
            face = watched.pop(entry.face.id, None) or self._faces.share(entry.face, after.user_id)
            entries.append(entry if face is entry.face else replace(entry, face=face))
        for face in watched.values():
            self._faces.leave(face, after.user_id)
        return replace(after, entries=tuple(entries))

    def release(self, state: FriendsState) -> None:
        """Nobody looks any more."""
        for entry in state.entries:
            self._faces.leave(entry.face, state.user_id)

    # -- what viewers see ---------------------------------------------------------------------------

    def frame(self, state: FriendsState, _audience: None) -> Raw:
        """The `friends_snapshot`."""
        veils = self._visibilities.before(state.user_id)
        now_ms = self._now_ms() if state.waiting else 0
        return Raw(frames.snapshot(self._faces, veils, state.entries, state.waiting, now_ms))

    def events(self, before: FriendsState, after: FriendsState, sources: Collection[str]) -> Sequence[Event]:
        """What viewers are told of the step from one state to the next."""
        told: list[Event] = []
        was = {entry.face.id: entry for entry in before.entries}
        is_now = {entry.face.id: entry for entry in after.entries}
        for source in sources:
            id = source.removeprefix(FACE)
            old, new = was.get(id), is_now.get(id)
            if id is not source:
                if new is not None and old is not None:
                    told.append(Appeared(self._part(new.face, after.user_id) + b"}"))
            elif new is None:
                if old is not None:
                    told.append(Between("friend_removed", b'{"friendId":"%b"}' % id.encode()))
            elif old is None or not old.same(new):
                part = self._part(new.face, after.user_id)
                told.append(Between("friend_added", frames.whole(part, new, self._now_ms())))
        told += _asked(before.waiting, after.waiting)
        return told

    def _part(self, face: Face, viewer_id: str) -> bytes:
        return self._faces.part(face, self._visibilities.of(face.id, viewer_id))


def take(
    state: FriendsState, sources: AbstractSet[str], _peek: Peek
) -> tuple[FriendsState, AbstractSet[str]]:
    """The state, and the users between whom and its owner something must be read."""
    return state, {source for source in sources if not source.startswith(FACE)}


def absorb(state: FriendsState, read: Read) -> FriendsState:
    """The state with what rows say."""
    fresh = dict(read.entries)
    entries = []
    for entry in state.entries:
        found = fresh.pop(entry.face.id, entry)
        if found is not None:
            # The face is the one that all share already.
            entries.append(replace(found, face=entry.face))
    entries += [entry for entry in fresh.values() if entry is not None]
    return FriendsState(state.user_id, tuple(entries), read.waiting)


def audience(state: FriendsState, viewer: FriendsViewer) -> None:
    """Who looks at a view is its owner.

    Raises:
        Forbidden: somebody else.
    """
    if viewer.user_id != state.user_id:
        raise Forbidden


def delta(_state: FriendsState, event: Appeared | Between, _audience: None) -> Delta:
    """The event as its viewers are told of it."""
    return Delta(event.name, Raw(event.data))


def _accepted(link: Link) -> tuple[int, str]:
    return link.accepted_at_ms, link.friend_id


def _asked(before: Sequence[Waiting], after: Sequence[Waiting]) -> Iterator[Event]:
    """The requests that came and went."""
    if before == after:
        return
    was, is_now = {one.id for one in before}, {one.id for one in after}
    for one in before:
        if one.id not in is_now:
            yield Between("request_removed", b'{"id":"%b"}' % one.id.encode())
    for one in after:
        if one.id not in was:
            yield Between("request_added", one.record)
