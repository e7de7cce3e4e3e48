"""Telling parties which of their members are away, so that they can let them go after ten minutes (contract §6).

A lost socket alone changes nothing. A member who goes offline is noted at once; one who was never online since the
start (the service was down, or a game server acts for them) is found by a sweep every few seconds.
"""

from collections.abc import Callable
from functools import partial
from itertools import chain, islice

from actors.errors import NotFound
from actors.kernel.mailbox import Answer
from actors.party.commands import TellPresence
from actors.party.memberships import Memberships
from actors.users.presence import Presence

TOLD_AT_ONCE = 200
"""Most members whom one look reports as away: after a restart all of them are, for a moment."""

LOOK_SECONDS = 5
"""Seconds between two looks."""

Send = Callable[[str, TellPresence, Callable[[Answer], None]], None]
"""Sends a command to the party with this id, which is loaded if need be, and calls the function with its answer."""


class Absences:
    """Tells parties which of their members are away (see the module).

    Args:
        presence: knows who is online.
        memberships: knows who is in which party.
        send: sends a command to a party.
        now_ms: returns epoch milliseconds.
    """

    def __init__(
        self, presence: Presence, memberships: Memberships, send: Send, now_ms: Callable[[], int]
    ) -> None:
        self._presence = presence
        self._memberships = memberships
        self._send = send
        self._now_ms = now_ms
        self._away: set[str] = set()  # those who were told as away
        # {user id: their party, which failed to take what it was told of them}; who has waited longest comes first
        self._in_vain: dict[str, str] = {}
        memberships.on_change(self._moved)

    def heard(self, user_id: str, online: bool) -> None:
        """Listener of `Presence`: a user has come online or gone offline, and their party is told."""
        party_id = self._memberships.of(user_id)
        if party_id is None:
            return
        if not online:
            self._tell_away(user_id, party_id)
        elif user_id in self._away:
            self._tell_back(user_id, party_id)

    def look(self) -> None:
        """Report members who are offline and were not reported so, as after a restart, and report again those whose
        party could not be told.
        """
        never_told = [
            (user_id, party_id)
            for user_id, party_id in self._memberships.all()
            if user_id not in self._away
            and user_id not in self._in_vain
            and not self._presence.is_online(user_id)
        ]
        # Who was told in vain comes last and in turn, so that hundreds whose party is at fault hold up nobody else.
        for user_id, party_id in list(islice(chain(never_told, self._in_vain.items()), TOLD_AT_ONCE)):
            self._in_vain.pop(user_id, None)
            if self._presence.is_online(user_id):
                self._tell_back(user_id, party_id)
            else:
                self._tell_away(user_id, party_id)

    def _tell_away(self, user_id: str, party_id: str) -> None:
        self._away.add(user_id)
        since_ms = self._presence.offline_since_ms(user_id) or self._now_ms()
        self._tell(user_id, party_id, since_ms)

    def _tell_back(self, user_id: str, party_id: str) -> None:
        self._away.discard(user_id)
        self._tell(user_id, party_id, None)

    def _tell(self, user_id: str, party_id: str, since_ms: int | None) -> None:
        answered = partial(self._answered, user_id, party_id)
        self._send(party_id, TellPresence(user_id, since_ms), answered)

    def _answered(self, user_id: str, party_id: str, answer: Answer) -> None:
        if answer.error is None or isinstance(answer.error, NotFound):  # a party that is gone has no members
            return
        if self._memberships.of(user_id) == party_id:
            self._in_vain[user_id] = party_id

    def _moved(self, user_id: str, _party_id: str | None) -> None:
        self._away.discard(user_id)
        self._in_vain.pop(user_id, None)
