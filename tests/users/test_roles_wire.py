"""Wire: roles are given and taken by super-admins, at once, and one super-admin always stays (contract §2)."""

import pytest
import trio

from actors.errors import Forbidden
from actors.users.permissions import Role
from actors.users.units_rights import dismiss
from persistence.users.audit import Stamp
from tests.support.one_world import in_one_world
from tests.support.waiting import patience
from tests.support.world import Player, World


def role_of(user: Player, role: str) -> str:
    return f"/v1/admin/users/{user.id}/roles/{role}"


async def test_a_role_holds_what_its_holders_do(world: World) -> None:
    """What the list says of a role is what somebody has who was given it."""
    root = await world.super_admin()
    roles = {one["role"]: one for one in (await root.get("/v1/admin/roles"))["items"]}
    assert list(roles) == ["user", "moderator", "admin", "super-admin"]
    for role, entry in roles.items():
        holder = await (world.player("Ann") if role == "user" else world.ranked("Ann", role))
        own = await holder.get("/v1/profile/self")
        assert (entry["label"], entry["nodes"]) == (own["highestRoleLabel"], own["permissions"])


async def test_a_role_is_given_and_taken(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    reports = "/v1/admin/reports"
    assert (await ann.refused("GET", reports))[0] == 403
    given = await root.do("PUT", role_of(ann, "moderator"), status=200)
    assert given == {"userId": ann.id, "roles": ["moderator"], "highestRoleLabel": "Moderator"}
    assert await ann.get(reports)
    assert await root.do("PUT", role_of(ann, "moderator"), status=200) == given
    both = await root.do("PUT", role_of(ann, "admin"), status=200)
    assert (both["roles"], both["highestRoleLabel"]) == (["admin", "moderator"], "Admin")
    await root.do("DELETE", role_of(ann, "admin"), status=200)
    taken = await root.do("DELETE", role_of(ann, "moderator"), status=200)
    assert taken == {"userId": ann.id, "roles": [], "highestRoleLabel": "User"}
    assert await root.do("DELETE", role_of(ann, "moderator"), status=200) == taken
    assert (await ann.refused("GET", reports))[0] == 403
    trail = (await root.get("/v1/admin/audit"))["items"]
    assert [(one["action"], one["actorId"], one["targetId"], one["detail"]["role"]) for one in trail] == [
        ("role.removed", root.id, ann.id, "moderator"),
        ("role.removed", root.id, ann.id, "admin"),
        ("role.added", root.id, ann.id, "admin"),
        ("role.added", root.id, ann.id, "moderator"),
    ]


@in_one_world(
    "path",
    [
        "{ann}/roles/user",
        "{ann}/roles/root",
        "{ann}/roles/%00",
        "00000000-0000-4000-8000-000000000000/roles/admin",
    ],
)
@in_one_world("method", ["PUT", "DELETE"])
async def test_what_is_not_there(world: World, method: str, path: str) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    target = f"/v1/admin/users/{path.format(ann=ann.id)}"
    assert await root.refused(method, target) == (404, "NOT_FOUND")


async def test_the_last_super_admin_stays_one(world: World) -> None:
    root = await world.super_admin()
    own = role_of(root, "super-admin")
    assert await root.refused("DELETE", own) == (409, "INVALID_STATE")
    ben = await world.player("Ben")
    await root.do("PUT", role_of(ben, "super-admin"))
    await root.do("DELETE", own)
    assert (await root.refused("GET", "/v1/admin/audit"))[0] == 403
    assert await ben.refused("DELETE", role_of(ben, "super-admin")) == (409, "INVALID_STATE")


async def test_of_two_who_parteach_other_one_stays(world: World) -> None:
    ann, ben = await world.ranked("Ann", "super-admin"), await world.ranked("Ben", "super-admin")
    answers: list[int] = []

    async def part(one: Player, other: Player) -> None:
        answers.append((await one.ask("DELETE", role_of(other, "super-admin"))).status_code)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(part, ann, ben)
        nursery.start_soon(part, ben, ann)
    assert sorted(answers) == [200, 403]


async def test_who_was_dismissed_meanwhile_dismisses_nobody(world: World) -> None:
    """The unit asks again: a request may have passed the gate before."""
    ann, ben, cid = [await world.ranked(name, "super-admin") for name in ("Ann", "Ben", "Cid")]
    await ann.do("DELETE", role_of(ben, "super-admin"))
    stamp = Stamp("0" * 24, world.clock.now_ms(), ben.id, None)
    with pytest.raises(Forbidden, match="only for the role super-admin"):
        await world.service.database.transact(dismiss, cid.id, Role.SUPER_ADMIN, stamp)


async def test_a_role_that_is_taken_ends_on_open_sockets(world: World) -> None:
    """A role that is taken ends on open sockets by itself: chat is there for nobody else once it is in the catalog."""
    root, ann = await world.super_admin(), await world.player("Ann")
    await world.grant(root, "social:chat.read")
    await root.do("PUT", role_of(ann, "super-admin"))
    async with ann.live("/v1/social/live?channels=inbox") as socket:
        await socket.receive_until(type="snapshot")
        with patience():
            await root.do("DELETE", role_of(ann, "super-admin"))
            assert (await socket.receive_until(type="unsubscribed"))["code"] == "FORBIDDEN"
