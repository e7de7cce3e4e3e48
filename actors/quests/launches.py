"""Launch signals that parties have given and that are still to be counted: in memory, for a second at most."""

from actors.party.events import AnyEvent, MembersLeft, ReadyChanged
from actors.party.state import State
from actors.quests.day import day_of
from persistence.quests.company import Launch

AT_ONCE = 1_000
"""Most launches that are counted in one transaction."""


class Launches:
    """Users and the launch signals that they were part of. What is noted twice is counted once."""

    def __init__(self) -> None:
        self._waiting: dict[Launch, None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def happened(self, _state: State, event: AnyEvent) -> None:
        """Take in a committed event of a party."""
        if not isinstance(event, ReadyChanged | MembersLeft) or event.signal is None:
            return
        day = day_of(event.signal.created_at_ms)
        for user_id in event.signal.member_ids:
            self._waiting[Launch(user_id, day, event.signal.id)] = None

    def oldest(self) -> list[Launch]:
        """The launches that have waited longest, `AT_ONCE` at most."""
        return [one for one, _ in zip(self._waiting, range(AT_ONCE), strict=False)]

    def counted(self, launches: list[Launch]) -> None:
        """Forget launches that are counted in rows now."""
        for one in launches:
            self._waiting.pop(one, None)
