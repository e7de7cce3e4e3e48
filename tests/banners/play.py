"""A design, the addresses of banners, and banners as rows."""

from typing import Any

from persistence.banners import banners
from persistence.banners.banners import Banner, Design
from persistence.connection import Connection

BANNERS = "/v1/profile/build-moe/banners"

DESIGN: dict[str, Any] = {
    "name": " Sunrise ",
    "baseColor": "black",
    "patterns": [
        {"pattern": "minecraft:stripe_top", "color": "red"},
        {"pattern": "bs", "color": "light_blue"},
    ],
}


async def keep_many(conn: Connection, owner_id: str, count: int) -> None:
    """Give a user plain banners that were never drawn."""
    for number in range(count):
        banner = Banner(f"{number:024x}", owner_id, f"{number}", Design("red", ()), number)
        await banners.add(conn, banner, b"")
