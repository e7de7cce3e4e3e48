"""Whether a participant of a conversation shows as online to a viewer (contract §5).

Between friends chat shows what the friend entry shows. Others show once they have made the conversation or written in
it, so that talking to a stranger does not tell whether they are online. A user who hides from the viewer, or who is
parted from them by a block, never shows.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol

NOBODY: frozenset[str] = frozenset()

FEW = 8
"""So many ids are looked through as fast as they are hashed, and a set of one takes 216 bytes, a tuple 48."""


def compact(ids: Iterable[str]) -> Collection[str]:
    """The ids in as little memory as their number allows; equal for equal ids, and hashable."""
    known = tuple(ids)
    return tuple(sorted(known)) if len(known) <= FEW else frozenset(known)


class Sight(NamedTuple):
    """What one viewer sees otherwise than everybody, among the participants of one conversation.

    Args:
        known: those who show although they are silent there: friends, and the viewer; `compact`.
        hidden: those who look offline, whatever is true.
    """

    known: Collection[str] = ()
    hidden: frozenset[str] = NOBODY


STRANGER = Sight()
"""Who knows nobody there, and from whom nobody hides: nearly every viewer."""


class Relationships(Protocol):
    """Answers from memory who is a friend of whom, who hides, who blocks; asked for each frame, so it never waits."""

    def parted(self, one_id: str, other_id: str) -> bool:
        """Whether one of the two blocks the other."""
        ...

    def friends_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        """Those of the users who are friends of the viewer."""
        ...

    def hidden_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:
        """Those of the users who look offline to the viewer, whatever is true."""
        ...


class Strangers:
    """A `Relationships` in which all users are strangers."""

    def parted(self, one_id: str, other_id: str) -> bool:  # noqa: ARG002
        """Nobody blocks anybody."""
        return False

    def friends_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:  # noqa: ARG002
        """None of them."""
        return NOBODY

    def hidden_among(self, viewer_id: str, ids: Collection[str]) -> frozenset[str]:  # noqa: ARG002
        """None of them."""
        return NOBODY


def sight_of(
    relationships: Relationships, viewer_id: str, ids: Collection[str], silent: Collection[str]
) -> Sight:
    """What a viewer sees of these participants.

    Args:
        relationships: knows what is between users.
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
