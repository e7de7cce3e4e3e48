"""Who is in which party: in memory, read at the start, told of every change, asked by everything else."""

from collections.abc import Callable, Collection, Iterable

from actors.kernel.facets import News
from actors.party import events

MembershipListener = Callable[[str, str | None], None]
"""Called with a user id and the party that they are in now."""

NOBODY: frozenset[str] = frozenset()


class Memberships:
    """{user: party}, and {party: users}. The rows are the truth; this follows them at once, but is not them.

    Args:
        stored: (user id, party id) of everybody who is in one.
    """

    def __init__(self, stored: Iterable[tuple[str, str]]) -> None:
        self._party_of: dict[str, str] = {}
        self._members: dict[str, frozenset[str]] = {}
        self._listeners: list[MembershipListener] = []
        self._on_outcome_unknown: list[Callable[[str], None]] = []
        for user_id, party_id in stored:
            self.joined(user_id, party_id)

    def __len__(self) -> int:
        return len(self._party_of)

    def of(self, user_id: str) -> str | None:
        """The party that a user is in."""
        return self._party_of.get(user_id)

    def members(self, party_id: str) -> Collection[str]:
        """Who is in a party."""
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

    def joined(self, user_id: str, party_id: str) -> None:
        """Take in that a user has joined a party, after the commit."""
        before = self._party_of.get(user_id)
        if before == party_id:
            return
        if before is not None:
            self._drop(user_id, before)
        self._party_of[user_id] = party_id
        self._members[party_id] = self._members.get(party_id, NOBODY) | {user_id}
        self._tell(user_id, party_id)

    def left(self, user_id: str, party_id: str) -> None:
        """Take in that a user has left a party, after the commit; ignored if they are in another one by now."""
        if self._party_of.get(user_id) == party_id:
            self._drop(user_id, party_id)
            self._tell(user_id, None)

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
        """Take in who is in a party, as read from its rows; no members if there is no such party."""
        for user_id in self.members(party_id):
            if user_id not in user_ids:
                self.left(user_id, party_id)
        for user_id in user_ids:
            self.joined(user_id, party_id)

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
