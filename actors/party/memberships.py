"""Who is in which party: in memory, read at the start, told of every change, asked by everything else.

One node tells of changes in their order, several may overtake each other: who made a party, its former owner and its
present one, and the owner of the next party. A user is in one party at a time, so changes that are heard in order are
joining and leaving by turns, and whoever has heard all of them, each once, knows where a user is. What does not fit
says that the order is lost. It is taken in all the same, but from then on this user's place is read from rows after
each change that is heard, so that it is right once the last one was.
"""

from collections.abc import Callable, Collection, Iterable

from actors.kernel.facets import News
from actors.party import events

MembershipListener = Callable[[str, str | None], None]
"""Called with the id of a user, and the id of the party that they are in now; None for none."""

NOBODY: frozenset[str] = frozenset()

UNSETTLED = 10_000
"""Most users whose changes are not believed without their rows; beyond it the one of whom nothing was heard for the
longest time is believed again."""


class Memberships:
    """{user: party}, and {party: users}. The rows are the truth; this follows them at once, but is not them.

    Args:
        stored: (user id, party id) of everybody who is in a party.
    """

    def __init__(self, stored: Iterable[tuple[str, str]]) -> None:
        self._party_of: dict[str, str] = {}
        self._members: dict[str, frozenset[str]] = {}
        self._listeners: list[MembershipListener] = []
        self._on_outcome_unknown: list[Callable[[str], None]] = []
        self._on_doubt: list[Callable[[str], None]] = []
        self._unsettled: dict[str, None] = {}  # users, the one of whom there is news behind all others
        for user_id, party_id in stored:
            self._move(user_id, party_id)

    def __len__(self) -> int:
        return len(self._party_of)

    def of(self, user_id: str) -> str | None:
        """The id of the party that a user is in; None for none."""
        return self._party_of.get(user_id)

    def members(self, party_id: str) -> Collection[str]:
        """The ids of the users who are in a party."""
        return self._members.get(party_id, NOBODY)

    def parties(self) -> Iterable[str]:
        """The ids of all parties."""
        return self._members.keys()

    def all(self) -> Iterable[tuple[str, str]]:
        """(user id, party id) of all members of parties."""
        return self._party_of.items()

    def on_change(self, listener: MembershipListener) -> None:
        """Call `listener(user_id, party_id)`, synchronously, when a user has joined a party, or with None left."""
        self._listeners.append(listener)

    def on_outcome_unknown(self, listener: Callable[[str], None]) -> None:
        """Call `listener(party_id)`, synchronously, when it is unknown who is in a party until its rows are read."""
        self._on_outcome_unknown.append(listener)

    def on_doubt(self, listener: Callable[[str], None]) -> None:
        """Call `listener(user_id)`, synchronously, when it is unknown where a user is until that is read (`settle`)."""
        self._on_doubt.append(listener)

    def joined(self, user_id: str, party_id: str) -> None:
        """Take in that a user has joined a party, after the commit."""
        before = self._party_of.get(user_id)
        self._move(user_id, party_id)
        self._heard(user_id, in_order=before is None)

    def left(self, user_id: str, party_id: str) -> None:
        """Take in that a user has left a party, after the commit; ignored if they are in another one by now."""
        before = self._party_of.get(user_id)
        if before == party_id:
            self._move(user_id, None)
        self._heard(user_id, in_order=before == party_id)

    def news(self) -> News:
        """The events of parties that this follows: who has joined or left."""
        return News(of=frozenset((events.MemberJoined, events.MembersLeft)), hear=self.hear)

    def hear(self, party_id: str, event: events.MemberJoined | events.MembersLeft) -> None:
        """Take in a committed event of a party."""
        match event:
            case events.MemberJoined(member=member):
                self.joined(member.user_id, party_id)
            case events.MembersLeft():
                for user_id in event.user_ids:
                    self.left(user_id, party_id)

    # -- what is not known --------------------------------------------------------------------------

    def distrust(self, party_id: str) -> None:
        """Mark this party's members as unknown: they may have changed, and its rows must be read."""
        for listener in self._on_outcome_unknown:
            listener(party_id)

    def reconcile(self, party_id: str, user_ids: Collection[str]) -> None:
        """Take in who is in a party, as read from its rows; no members if there is no such party.

        Whoever is not where memory had them may have moved on since the rows were read, and is read once more.
        """
        for user_id in self.members(party_id):
            if user_id not in user_ids and self._move(user_id, None):
                self._doubt(user_id)
        for user_id in user_ids:
            if self._move(user_id, party_id):
                self._doubt(user_id)

    def compare(self, stored: Iterable[tuple[str, str]]) -> None:
        """Doubt all users who are not where rows have them, which may have changed since they were read.

        Args:
            stored: (user id, party id) of everybody who is in a party.
        """
        rows = dict(stored)
        for user_id in sorted(self._party_of.keys() | rows.keys()):
            if self._party_of.get(user_id) != rows.get(user_id):
                self._doubt(user_id)

    def settle(self, user_id: str, party_id: str | None) -> bool:
        """Take in where a user is who was in doubt (`on_doubt`); returns whether memory had them elsewhere.

        Args:
            party_id: their party, as read from rows after the doubt; None for none.
        """
        return self._move(user_id, party_id)

    def _heard(self, user_id: str, *, in_order: bool) -> None:
        if not in_order or user_id in self._unsettled:
            self._doubt(user_id)

    def _doubt(self, user_id: str) -> None:
        self._unsettled.pop(user_id, None)
        self._unsettled[user_id] = None
        if len(self._unsettled) > UNSETTLED:
            del self._unsettled[next(iter(self._unsettled))]
        for listener in self._on_doubt:
            listener(user_id)

    def _move(self, user_id: str, party_id: str | None) -> bool:
        """Note where a user is; returns whether memory had them elsewhere."""
        before = self._party_of.get(user_id)
        if before == party_id:
            return False
        if before is not None:
            self._drop(user_id, before)
        if party_id is not None:
            self._party_of[user_id] = party_id
            self._members[party_id] = self._members.get(party_id, NOBODY) | {user_id}
        self._tell(user_id, party_id)
        return True

    def _drop(self, user_id: str, party_id: str) -> None:
        del self._party_of[user_id]
        others = self._members[party_id] - {user_id}
        if others:
            self._members[party_id] = others
        else:
            del self._members[party_id]

    def _tell(self, user_id: str, party_id: str | None) -> None:
        for listener in self._listeners:
            listener(user_id, party_id)
