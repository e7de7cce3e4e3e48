"""Who may read whose saved servers (service-api §5 rule 7).

| who looks                                                | PUBLIC | FRIENDS | PRIVATE |
|----------------------------------------------------------|--------|---------|---------|
| oneself, `social:servers.read.others`, `admin:user:view` | yes    | yes     | yes     |
| a confirmed friend                                       | yes    | yes     | no      |
| anybody else with a token                                | yes    | no      | no      |
"""

from actors.errors import NotFound, VisibilityDenied
from persistence.connection import Connection
from persistence.friends.links import friends_among
from persistence.saved_servers import rows
from persistence.saved_servers.rows import Saved
from persistence.users.users import Visibility, read_user

SEE_ALL = ("social:servers.read.others", "admin:user:view")
"""The permission nodes each of which shows every list."""


def shows(visibility: Visibility, *, friend: bool) -> bool:
    """Whether a list is shown to a viewer who is not its owner and holds no node of `SEE_ALL`.

    Args:
        friend: whether the viewer is a confirmed friend of the owner.
    """
    return visibility == "PUBLIC" or (visibility == "FRIENDS" and friend)


async def read_list(conn: Connection, owner_id: str, viewer_id: str, sees_all: bool) -> list[Saved]:
    """A user's saved servers, as far as the viewer may read them.

    Args:
        sees_all: whether the viewer holds a node of `SEE_ALL`.

    Raises:
        NotFound: there is no such user; told only to those who see all.
        VisibilityDenied: the list is not shown to the viewer, or there is no such user.
    """
    owner = await read_user(conn, owner_id)
    if sees_all or owner_id == viewer_id:
        if owner is None:
            raise NotFound("no such user")
    else:
        friend = bool(await friends_among(conn, viewer_id, (owner_id,)))
        if owner is None or not shows(owner.server_list_visibility, friend=friend):
            raise VisibilityDenied("this list is not shown to you")
    return await rows.of_user(conn, owner_id)
