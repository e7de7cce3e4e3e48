"""What tests of users share."""

from routes.users.erasure import sweep_erased
from tests.support.waiting import wait_until
from tests.support.world import Player, World


def one(user: Player) -> str:
    return f"/v1/admin/users/{user.id}"


async def swept(world: World) -> None:
    """Have all erasures finished, also those that the job of another node has begun to finish."""

    async def all_are_finished() -> bool:
        return await sweep_erased(world.service)

    await wait_until(all_are_finished)


async def erase(world: World, user: Player) -> Player:
    """Erase a user completely, down to their last message; returns the super-admin who did it."""
    root = await world.super_admin()
    await root.do("DELETE", one(user), status=204)
    await swept(world)
    return root


def again(world: World, user: Player) -> Player:
    """The same user with a token that was issued after the erasure."""
    world.clock.advance(2_000)
    return Player(world, user.id, user.name, world.token(user.id, user.name))


SHARES = "/v1/profile/shares"


PROFILE = {"name": "Survival", "manifest": {"minecraftVersion": "1.21", "mods": ["sodium", "ü"]}}
