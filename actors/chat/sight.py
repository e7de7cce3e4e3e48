"""Whether a participant of a conversation shows as online to a viewer (contract §5).

Between friends chat shows what the friend entry shows. Others show once they have made the conversation or written in
it, so that talking to a stranger does not tell whether they are online. A user who hides from the viewer, or who is
parted from them by a block, never shows.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol

NOBODY: frozenset[str] = frozenset()

FEW = 8
"""Most ids that are kept as a tuple: so few are searched as fast as a set, which takes more memory (216 bytes for one
id, not 48)."""


def compact(ids: Iterable[str]) -> Collection[str]:
    """The ids in as little memory as their number allows; equal for equal ids, and hashable."""
    known = tuple(ids)
    return tuple(sorted(known)) if len(known) <= FEW else frozenset(known)


class Sight(NamedTuple):
    """Where the presence of a conversation's participants differs for one viewer from what everybody sees.

    Args:
        known: ids of silent participants whose presence the viewer sees nevertheless: friends, and the viewer; in the
            form that `compact` returns.
        hidden: ids of participants who look offline to the viewer, whether they are or not.
    """

    known: Collection[str] = ()
    hidden: frozenset[str] = NOBODY


STRANGER = Sight()
"""The sight of a viewer who knows nobody there and from whom nobody hides: nearly every viewer's."""


class Relationships(Protocol):
    """Answers from memory who is a friend of whom, who hides, who blocks; asked for each frame, so it never waits."""

    def parted(self, one_id: str, other_id: str) -> bool:
        """Whether one of the two blocks the other."""
        ...

    def friends_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        """Those of the users who are friends of the viewer."""
        ...

    def hidden_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        """Those of the users who look offline to the viewer, whether they are or not."""
        ...


class Strangers:
    """A `Relationships` in which all users are strangers."""

    def parted(self, one_id: str, other_id: str) -> bool:  # noqa: ARG002
        """Nobody blocks anybody."""
        return False

    def friends_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:  # noqa: ARG002
        """Nobody: all users are strangers."""
        return NOBODY

    def hidden_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:  # noqa: ARG002
        """Nobody: all users are strangers."""
        return NOBODY


def sight_of(
    relationships: Relationships, viewer_id: str, ids: Collection[str], silent: Collection[str]
) -> Sight:
    """What a viewer sees of these participants.

    Args:
        relationships: knows who are friends, who hides and who blocks.
        ids: the participants that are shown.
        silent: those of them who have neither made the conversation nor written in it.
    """
    hidden = relationships.hidden_among(viewer_id, ids)
    known = known_among(relationships, viewer_id, silent)
    return Sight(known, hidden) if known or hidden else STRANGER


def known_among(relationships: Relationships, viewer_id: str, silent: Collection[str]) -> Collection[str]:
    """Those of the silent users whom the viewer sees nevertheless: the viewer's friends, and the viewer."""
    if not silent:
        return ()
    known = relationships.friends_among(viewer_id, silent)
    return compact(known | {viewer_id} if viewer_id in silent else known)
