"""Long random walks of a few users beside a model of what must be so, on real rows."""

import secrets
from functools import partial
from random import Random

import pytest

from actors.errors import NotFound
from actors.ids import new_object_id
from actors.totems.units import activate, upload
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.totems import totems
from persistence.users.users import arrive
from tests.totems.play import DRAFT, NOW_MS, counted, uid

USERS = 5


class Walk:
    """What must be so.

    `owners` is {model: owner}, `carried` {user: model}.
    """

    def __init__(self, database: Database, random: Random) -> None:
        self.database = database
        self.random = random
        self.owners: dict[str, str] = {}
        self.carried: dict[str, str] = {}
        self.at_ms = NOW_MS

    def users_of(self, model_id: str) -> int:
        return sum(1 for carried in self.carried.values() if carried == model_id)

    async def upload(self, user_id: str) -> None:
        model_id = new_object_id(self.at_ms, secrets.token_bytes)
        store = partial(upload, now_ms=self.at_ms)
        made = await self.database.transact(store, user_id, model_id, DRAFT, b"{}")
        self.owners[model_id], self.carried[user_id] = user_id, model_id
        assert (made.owner_id, made.selected_count) == (user_id, 1)

    async def carry(self, user_id: str, *, gallery: bool) -> None:
        if not self.owners:
            return
        model_id = self.random.choice(list(self.owners))
        known = gallery or self.owners[model_id] == user_id or self.users_of(model_id) > 0
        unit = partial(activate, gallery=gallery)
        if not known:
            with pytest.raises(NotFound):
                await self.database.transact(unit, user_id, model_id, self.at_ms)
            return
        chosen = await self.database.transact(unit, user_id, model_id, self.at_ms)
        self.carried[user_id] = model_id
        assert (chosen.id, chosen.selected_count) == (model_id, self.users_of(model_id))

    async def leave(self, user_id: str) -> None:
        async def unit(conn: Connection) -> None:
            await conn.execute("DELETE FROM users WHERE id = $1", user_id)
            await arrive(conn, user_id, user_id[-4:], issued_at_s=0, now_ms=self.at_ms)

        await self.database.transact(unit)
        self.owners = {model: owner for model, owner in self.owners.items() if owner != user_id}
        kept = {user: model for user, model in self.carried.items() if model in self.owners}
        self.carried = {user: model for user, model in kept.items() if user != user_id}

    async def agrees(self) -> None:
        await counted(self.database)
        for number in range(USERS):
            user_id = uid(number)
            carried = await self.database.read(totems.selected_by, user_id)
            assert (carried and carried.id) == self.carried.get(user_id)
            models, total = await self.database.read(
                partial(totems.uploaded_by, limit=500, offset=0), user_id
            )
            assert {model.id for model in models} == {
                m for m, owner in self.owners.items() if owner == user_id
            }
            assert total == len(models)
            for model_id, owner in self.owners.items():
                read = partial(totems.visible, gallery=False)
                seen = await self.database.read(read, model_id, user_id)
                assert (seen is not None) == (owner == user_id or self.users_of(model_id) > 0)


@pytest.mark.parametrize("seed", range(4))
async def test_rows_are_what_the_model_says(database: Database, seed: int):
    walk = Walk(database, Random(seed))
    for number in range(USERS):
        await database.transact(partial(arrive, issued_at_s=0, now_ms=NOW_MS), uid(number), str(number))
    for step in range(60):
        user_id = uid(walk.random.randrange(USERS))
        walk.at_ms += walk.random.choice([0, 1, 1000])
        roll = walk.random.random()
        if roll < 0.3:
            await walk.upload(user_id)
        elif roll < 0.95:
            await walk.carry(user_id, gallery=roll < 0.6)
        else:
            await walk.leave(user_id)
        if step % 10 == 9:
            await walk.agrees()
