"""All voice channels as their owners have committed them, by party, by pair, and by who may find one waiting."""

from collections.abc import Iterator

from actors.voice.state import EMPTY_MS, State


class Channels:
    """The channels that there are."""

    def __init__(self) -> None:
        self._states: dict[str, State] = {}
        self._of_party: dict[str, str] = {}
        self._of_pair: dict[tuple[str, ...], str] = {}
        self._of_peer: dict[str, set[str]] = {}  # {user id: private channels of theirs}
        self._empty: set[str] = set()

    def __iter__(self) -> Iterator[State]:
        return iter(tuple(self._states.values()))

    def get(self, channel_id: str) -> State | None:
        """The channel with this id; None when there is none."""
        return self._states.get(channel_id)

    def of_pair(self, one_id: str, other_id: str) -> State | None:
        """The private channel of two users; None when there is none."""
        return self._states.get(self._of_pair.get(tuple(sorted((one_id, other_id))), ""))

    def of_party(self, party_id: str) -> State | None:
        """The channel of a party; None when there is none."""
        return self._states.get(self._of_party.get(party_id, ""))

    def waiting_for(self, user_id: str) -> State | None:
        """The private channel of a user in which another has waited longest; None where nobody is in any."""
        waits = [state for id in self._of_peer.get(user_id, ()) if (state := self._states[id]).sessions]
        if not waits:
            return None
        return min(waits, key=lambda one: min(each.joined_at_ms for each in one.sessions.values()))

    def overdue(self, now_ms: int) -> list[str]:
        """The ids of channels that have been empty for long enough to end.

        Args:
            now_ms: epoch milliseconds.
        """
        return [
            id
            for id in self._empty
            if (since_ms := self._states[id].empty_since_ms) is not None and since_ms + EMPTY_MS <= now_ms
        ]

    def put(self, state: State) -> None:
        """Keep a channel as it is now."""
        self._states[state.id] = state
        if state.sessions:
            self._empty.discard(state.id)
        else:
            self._empty.add(state.id)
        if state.party_id is not None:
            self._of_party[state.party_id] = state.id
            return
        self._of_pair[state.pair] = state.id
        for user_id in state.pair:
            self._of_peer.setdefault(user_id, set()).add(state.id)

    def remove(self, state: State) -> None:
        """Forget a channel that has ended, whose party or pair may have another by now."""
        self._states.pop(state.id, None)
        self._empty.discard(state.id)
        if self._of_party.get(state.party_id or "") == state.id:
            del self._of_party[state.party_id or ""]
        if self._of_pair.get(state.pair) == state.id:
            del self._of_pair[state.pair]
        for user_id in state.pair:
            mine = self._of_peer.get(user_id, set())
            mine.discard(state.id)
            if not mine:
                self._of_peer.pop(user_id, None)
