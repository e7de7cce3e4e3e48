"""What tests of saved servers share."""

from typing import Any

from tests.support.world import Player

SAVED = "/v1/profile/public-servers/saved"


async def save(player: Player, address: str) -> Any:
    return await player.do("POST", SAVED, {"address": address})


async def save_all(player: Player, *names: str) -> list[str]:
    """Save servers by these names; returns their ids."""
    return [(await save(player, name))["id"] for name in names]


async def names(player: Player) -> list[str]:
    return [one["address"] for one in (await player.get(SAVED))["items"]]
