"""Views that show users what is theirs: who may look."""

from typing import Protocol

from actors.errors import Forbidden


class OfUser(Protocol):
    """The state of a view that belongs to one user."""

    @property
    def user_id(self) -> str:
        """The id of the user whose view it is."""
        ...


def owner_only(state: OfUser, viewer: str) -> None:
    """The audience of a user's own view: themselves alone, all of whose subscriptions receive the same bytes.

    Args:
        state: the state of the view.
        viewer: the id of the user who wants to look.

    Raises:
        Forbidden: the view is another user's.
    """
    if viewer != state.user_id:
        raise Forbidden
