"""Wire: what a super-admin asks for while they are dismissed or erased, when their request has been let in already.

The dismissal or erasure holds the lock of super-admins until the request waits for it, and is committed then.
"""

from functools import partial

import pytest

from actors.errors import Conflict
from actors.users.permissions import Role
from actors.users.units_erasure import erase
from actors.users.units_rights import dismiss
from persistence.connection import Connection
from persistence.users.audit import Stamp
from tests.support.locks import Step, crossed
from tests.support.waiting import wait_until
from tests.support.world import Player, World
from tests.users.play import one


async def nothing_more(_conn: Connection) -> None:
    """What the other transaction does after its only lock."""


def stamp(world: World, actor: Player | None) -> Stamp:
    return Stamp("0" * 24, world.clock.now_ms(), None if actor is None else actor.id, None)


async def refused_meanwhile(first: Step, asking: Player, method: str, path: str, body: object = None) -> None:
    """Send a request, which is let in before `first` is committed, waits for it, and is refused then."""

    async def ask() -> None:
        assert await asking.refused(method, path, body) == (403, "FORBIDDEN")

    await crossed(asking.world.service.database, first, nothing_more, ask)


async def test_of_two_who_erase_each_other_one_stays(world: World) -> None:
    ann, ben = await world.ranked("Ann", "super-admin"), await world.ranked("Ben", "super-admin")
    first = partial(erase, user_id=ben.id, stamp=stamp(world, ann))
    await refused_meanwhile(first, ben, "DELETE", one(ann))
    nobody = world.nobody()
    assert (await nobody.get(f"/v1/public/users/{ann.id}"))["userId"] == ann.id

    async def gone() -> bool:
        return (await nobody.ask("GET", f"/v1/public/users/{ben.id}")).status_code == 404

    # A unit without its reactions is what another process does: it is heard of a moment later.
    await wait_until(gone)
    assert await ann.get("/v1/admin/audit")


async def test_the_last_super_admin_is_erased_by_nobody(world: World) -> None:
    ann, database = await world.ranked("Ann", "super-admin"), world.service.database
    with pytest.raises(Conflict, match="the last super-admin"):
        await database.transact(erase, ann.id, stamp(world, None))
    ben = await world.ranked("Ben", "super-admin")
    await ben.do("DELETE", one(ann), status=204)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "permissions", {"node": "shop:manage"}),
        ("DELETE", "permissions/perk:glow", None),
        ("POST", "revoke-tokens", None),
    ],
)
async def test_who_is_dismissed_meanwhile_changes_no_rights(
    world: World, method: str, path: str, body: object
) -> None:
    ann, ben = await world.ranked("Ann", "super-admin"), await world.ranked("Ben", "super-admin")
    eve = await world.player("Eve")
    await ann.do("POST", f"{one(eve)}/permissions", {"node": "perk:glow"})
    first = partial(dismiss, user_id=ben.id, role=Role.SUPER_ADMIN, stamp=stamp(world, ann))
    await refused_meanwhile(first, ben, method, f"{one(eve)}/{path}", body)
    granted = (await ann.get(f"{one(eve)}/permissions"))["items"]
    assert [each["node"] for each in granted] == ["perk:glow"]
    assert await eve.get("/v1/auth/verify")
    trail = (await ann.get("/v1/admin/audit"))["items"]
    assert [each["action"] for each in trail] == ["role.removed", "permission.granted"]
