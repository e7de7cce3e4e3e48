"""What tests of totems share."""

from typing import Any

from actors.totems.units import Draft
from persistence.bridge.database import Database
from persistence.connection import Connection
from tests.support.world import Player
from tests.totems.models import body

OWN, OLD = "/v1/profile/personal-totem", "/v1/api/profile/personal-totem"


async def upload(player: Player, path: str = OWN, **more: Any) -> Any:
    return await player.do("POST", path, body(**more), status=201)


async def carry(player: Player, totem: Any, path: str = OWN) -> Any:
    return await player.do("POST", path, {"itemModelId": totem["itemModelId"]}, status=200)


NOW_MS = 1_790_000_000_000


DRAFT = Draft("minecraft-item-model", "totem.json", "sfw", 0, None, None, None)


def uid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


async def counted(database: Database) -> None:
    """Check that the counts which triggers keep agree with the rows."""

    async def look(conn: Connection) -> None:
        wrong = await conn.fetch(
            "SELECT id FROM totem_models AS m WHERE selected_count <>"
            " (SELECT count(*) FROM totem_selections WHERE model_id = m.id)"
        )
        assert not wrong
        total = await conn.fetchval("SELECT total FROM totem_gallery")
        assert total == await conn.fetchval("SELECT count(*) FROM totem_models")
        assert total == await conn.fetchval("SELECT count(*) FROM totem_contents")

    await database.read(look)
