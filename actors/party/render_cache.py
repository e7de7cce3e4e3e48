"""Parties as JSON, made once for all who see the same.

The members of a party nearly always do, and are told at the same moment: eight frames of one change cost one encoding.
Only who hides from whom differs (contract §5), and when a member comes or goes everything is encoded anew.
"""

from collections.abc import Callable, Collection, Iterable

import msgspec

from actors.party import frames
from actors.party.frames import Seen
from actors.party.state import Invite, State

KEPT = 256
"""Most encoded parties in memory, some 4 KB each, and up to ten times that with the states that a party remembers
(`TRAIL`). The one encoded first makes room: each matters for a moment only."""

NO_PARTY = b"null"

_encode = msgspec.json.Encoder().encode


class RenderCache:
    """Makes JSON of parties, and keeps it for viewers who see the same (see the module).

    Args:
        seen: returns how the user with the first id appears to the user with the second.
        hidden_among: returns those of the given users who look offline to the viewer.
        changes: returns a number that changes whenever anybody comes online or goes offline, or is online since another
            moment.
    """

    def __init__(
        self,
        seen: Seen,
        hidden_among: Callable[[str, Collection[str]], frozenset[str]],
        changes: Callable[[], int],
    ) -> None:
        self.seen = seen
        self._hidden_among = hidden_among
        self._changes = changes
        # {(party id, revision, its members who hide): (the state, changes at the time, JSON)}
        self._kept: dict[tuple[str, int, frozenset[str]], tuple[State, int, bytes]] = {}

    def snapshot(
        self, party: State | None, incoming: Iterable[Invite], user_id: str, *, now_ms: int
    ) -> bytes:
        """The PartySnapshot of a user as JSON.

        Args:
            party: the party that the user is in; None for none.
            incoming: the invites that the user has received.
            user_id: the user.
            now_ms: epoch milliseconds; expired invites are left out.
        """
        invites = _encode(frames.invites(party, incoming, user_id, now_ms=now_ms))
        shown = NO_PARTY if party is None else self._party(party, user_id)
        return b'{"party":%b,"invites":%b}' % (shown, invites)

    def _party(self, state: State, viewer_id: str) -> bytes:
        hidden = self._hidden_among(viewer_id, state.members)
        key, changes = (state.id, state.revision, hidden), self._changes()
        known = self._kept.get(key)
        if known is not None and known[0] is state and known[1] == changes:
            return known[2]
        if known is None and len(self._kept) >= KEPT:
            del self._kept[next(iter(self._kept))]
        made = _encode(frames.party_of(self.seen, state, viewer_id))
        self._kept[key] = (state, changes, made)
        return made
