"""Keep the banners of users: units of work, inside the caller's transaction."""

from actors.errors import NotFound, QuotaExceeded
from actors.users.locking import require_user
from actors.users.permissions import Access
from persistence.banners import banners
from persistence.banners.banners import Banner
from persistence.connection import Connection

BANNERS_NODE = "profile:banners.max"
"""The permission node that grants a number of banners."""

BANNERS_DEFAULT, BANNERS_BOUND = 100, 1_000
"""How many banners a user may have where no quota is granted, and the most that a quota can allow."""


def capacity(access: Access) -> int:
    """How many banners a user with these rights may have."""
    quota = access.quota(BANNERS_NODE)
    return BANNERS_DEFAULT if quota is None else min(int(quota.value), BANNERS_BOUND)


async def keep(conn: Connection, banner: Banner, picture: bytes, maximum: int) -> Banner:
    """Store a banner.

    Args:
        picture: the banner's picture, a PNG.
        maximum: how many banners its owner may have.

    Raises:
        NotFound: there is no such user.
        QuotaExceeded: the user has as many banners as they may.
    """
    # Locking the user's row serialises their banners, so that concurrent ones cannot exceed the limit.
    await require_user(conn, banner.owner_id)
    if await banners.count_owned(conn, banner.owner_id) >= maximum:
        raise QuotaExceeded(message=f"you may keep {maximum} banners", max=maximum)
    await banners.add(conn, banner, picture)
    return banner


async def remove(conn: Connection, owner_id: str, id: str) -> None:
    """Delete a banner with its picture.

    Raises:
        NotFound: the user has no such banner.
    """
    if not await banners.remove(conn, owner_id, id):
        raise NotFound("no such banner")
