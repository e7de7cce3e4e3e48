"""`partyline signin`: a link for whoever is called so, made in a terminal beside the service or without it."""

import pytest

from actors.users.permissions import Role
from persistence.users.names import ids_named
from routes.cli.faults import CommandFault
from routes.cli.signin import make_sign_in_link
from routes.cli.token import TokenWish
from tests.sessions.play import Browser, code_of
from tests.support.world import World


async def made(world: World, name: str, *, id: str | None = None, role: str | None = None) -> Browser:
    """A browser that is signed in by such a link."""
    wish = TokenWish.of(name, id, role, 60)
    config = world.service.config
    link = await make_sign_in_link(wish, world.service.database, config.dashboard_url, world.clock)
    browser = Browser(world)
    await browser.enter(code=code_of({"url": link}))
    return browser


async def test_who_is_known_by_this_name_and_who_is_new(world: World) -> None:
    ann = await world.player("Ann")
    assert (await made(world, "ann")).id == ann.id
    new = await made(world, "Ben")
    assert await world.service.database.read(ids_named, "ben") == [new.id]
    assert (await made(world, "Ann", id=ann.id)).id == ann.id


async def test_a_name_that_several_have(world: World) -> None:
    ann, _ = await world.players("Ann", "Ann")
    with pytest.raises(CommandFault, match="--id"):
        await made(world, "Ann")
    assert (await made(world, "Ann", id=ann.id)).id == ann.id


async def test_a_role_comes_with_it_and_all_of_it_is_on_record(world: World) -> None:
    root = await made(world, "Root", role=Role.SUPER_ADMIN.value)
    trail = (await root.get("/v1/admin/audit"))["items"]
    assert [(one["action"], one["actorId"], one["targetId"]) for one in trail] == [
        ("sign-in-link.made", None, root.id),
        ("role.added", None, root.id),
    ]
