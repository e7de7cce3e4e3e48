"""Other issuers are believed as far as they are configured: for whom they speak, and whether for super-admins."""

import json

import jwt
import pytest

from actors.ids import new_uuid
from actors.users.permissions import Access, Role, resolve
from persistence.users.permissions import Grant
from routes.edge.identity.issuer_settings import parse_issuers
from routes.users.parts import RIGHTS, USER_DIRECTORY
from tests.support.world import Player, World, open_world

SECRET = "x" * 32
ISSUER = "https://login.example"
ENTRY = {"iss": ISSUER, "alg": "HS256", "secret": SECRET}


def signed(world: World, user_id: str, name: str) -> Player:
    """Somebody with a token of the other issuer."""
    now_s = world.clock.now_ms() // 1000
    claims = {"iss": ISSUER, "sub": user_id, "name": name, "iat": now_s, "exp": now_s + 600}
    return Player(world, user_id, name, jwt.encode(claims, SECRET, algorithm="HS256"))


def setting(**more: object) -> str:
    return json.dumps([ENTRY | more])


async def status(player: Player, path: str = "/v1/auth/verify") -> int:
    return (await player.ask("GET", path)).status_code


async def test_an_issuer_speaks_for_its_subjects_only(database_url, tmp_path):
    async with open_world(database_url, tmp_path, jwt_issuers=setting(subjects="aaaa")) as world:
        inside = "aaaa" + new_uuid(world.service.random_bytes)[4:]
        outside = "bbbb" + new_uuid(world.service.random_bytes)[4:]
        assert [await status(signed(world, id, "Ann")) for id in (inside, outside)] == [200, 401]


@pytest.mark.parametrize("trusted", [False, True])
async def test_an_issuer_makes_nobody_a_super_admin_unless_it_says_so(database_url, tmp_path, *, trusted):
    more = {"superAdmins": True} if trusted else {}
    async with open_world(database_url, tmp_path, jwt_issuers=setting(**more)) as world:
        root = await world.super_admin()
        foreign = signed(world, root.id, root.name)
        for _ in range(2):  # the second time from memory
            assert await status(foreign) == 200
            assert await status(foreign, "/v1/admin/audit") == (200 if trusted else 403)
            assert await status(root, "/v1/admin/audit") == 200
        label = (await foreign.get("/v1/profile/self"))["highestRoleLabel"]
        assert label == ("Super Admin" if trusted else "User")
        held = (await foreign.get("/v1/auth/verify"))["permissions"]
        assert ("admin:user:view" in held) is trusted


async def test_an_open_stream_of_such_an_issuer_gets_no_rights_of_a_super_admin(database_url, tmp_path):
    async with open_world(database_url, tmp_path, jwt_issuers=setting()) as world:
        ann = await world.player("Ann")
        foreign = signed(world, ann.id, ann.name)
        await status(foreign)
        known = await world.service.of(USER_DIRECTORY).access_of(ann.id)
        told: list[Access] = []

        class Stream:
            def recheck(self, access: Access) -> None:
                told.append(access)

        world.service.of(RIGHTS).follow(ann.id, Stream(), known, capped=True)
        assert told == []
        await world.service.database.transact(_promote, ann.id)
        world.service.of(USER_DIRECTORY).changed(ann.id)
        await world.service.of(USER_DIRECTORY).access_of(ann.id)
        follower = Stream()
        world.service.of(RIGHTS).follow(ann.id, follower, known, capped=True)
        assert told
        assert not any(access.is_super_admin for access in told)


async def _promote(conn, user_id):
    await conn.execute("INSERT INTO user_roles VALUES ($1, 'super-admin', 0)", user_id)


def test_what_makes_a_super_admin_goes_and_nothing_else():
    grants = [Grant("*:*"), Grant("*"), Grant("shop:manage"), Grant("news:*"), Grant("*:*:*", negated=True)]
    access = resolve(["super-admin", "moderator"], grants, frozenset({"shop:manage"}), 0)
    capped = access.capped()
    assert capped.roles == {Role.USER, Role.MODERATOR}
    assert (capped.granted, capped.negated) == ({"shop:manage", "news:*"}, {"*:*:*"})
    assert access.capped() is capped
    assert capped.capped() is capped


@pytest.mark.parametrize("subjects", ["A", "x", "*", "0" * 37])
def test_subjects_that_no_user_could_have_are_a_mistake(subjects):
    with pytest.raises(ValueError, match="subjects"):
        parse_issuers(setting(subjects=subjects))
