"""A handler that asks an actor: with an Idempotency-Key its answer commits in the actor's own turn."""

import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from actors.errors import Conflict, NotFound
from actors.ids import ObjectId
from persistence.bridge.database import Database
from persistence.journal import journal
from persistence.journal.turn import Turn
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.mounts import Mount, RouteTable
from routes.edge.pipeline.call import Call
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Reply
from routes.edge.server.quart_app import EdgeApp
from routes.edge.wire import Wire
from tests.edge.asgi import Answered, request
from tests.edge.parts import NOW_MS, Parts
from tests.edge.sample import serving
from tests.kernel.ledger import Deposit, Explode, Ledger, Rename, Withdraw, ledger_kind
from tests.support.actors import open_actors

LEDGER = "65f0a1b2c3d4e5f601020304"


class JournalOnly:
    """Ledgers that live in their journal alone."""

    async def load(self, conn: Any, id: str) -> Ledger:
        return Ledger()

    async def persist(self, conn: Any, turns: Sequence[Turn]) -> None: ...

    async def fetch(self, conn: Any, id: str, missing: Any) -> Any: ...

    async def refresh(self, conn: Any, id: str, state: Ledger) -> Ledger:
        return state


KIND = ledger_kind(JournalOnly())


class Booking(Wire, frozen=True):
    amount: int


class Booked(Wire, frozen=True):
    total: int


@endpoint("POST", "/v1/ledgers/{ledgerId}", needs=AUTHENTICATED, status=201, refusals=(Conflict, NotFound))
async def book(call: Call, ledger_id: ObjectId, body: Booking) -> Reply[Booked]:
    """Books an amount; a negative one is withdrawn."""
    name = call.user.name
    command = Deposit(name, body.amount) if body.amount >= 0 else Withdraw(name, -body.amount)
    if body.amount == 999:
        return await call.ask(KIND, ledger_id, Rename(""), shape=booked)
    if body.amount == 666:
        return await call.ask(KIND, ledger_id, Explode("decide"), shape=booked)
    reply = await call.ask(KIND, ledger_id, command, shape=booked)
    if body.amount == 777:
        await call.ask(KIND, ledger_id, command, shape=booked)
    return reply


def booked(total: object) -> Reply[Booked]:
    assert isinstance(total, int)
    return Reply(Booked(total), status=202)


@pytest.fixture
async def app(database: Database) -> AsyncIterator[EdgeApp]:
    async def create(conn: Any) -> None:
        await journal.create_head(
            conn, "ledger", LEDGER, epoch="e1", summary=b"", due_at_ms=None, at_ms=NOW_MS
        )

    await database.transact(create)
    table = RouteTable.of([Mount("ledgers", (sys.modules[__name__],))])
    async with (
        open_actors(database, KIND) as system,
        serving(Parts(database=database, system=system), table) as app,
    ):
        yield app


async def post(app: EdgeApp, amount: int, id: str = LEDGER, **headers: str) -> Answered:
    return await request(app, "POST", f"/v1/ledgers/{id}", {"amount": amount}, token="ann", **headers)


async def test_answer_commits_with_the_turn(app: EdgeApp) -> None:
    first = await post(app, 5, idempotency_key="k")
    again = await post(app, 5, idempotency_key="k")
    assert [(known.status, known.json) for known in (first, again)] == [(202, {"total": 5})] * 2
    assert again.headers["idempotent-replayed"] == "true"
    assert (await post(app, 1)).json == {"total": 6}


async def test_a_command_that_changes_nothing_is_answered_alike(app: EdgeApp) -> None:
    first = await post(app, 999, idempotency_key="k")
    await post(app, 5)
    again = await post(app, 999, idempotency_key="k")
    assert [(known.status, known.json) for known in (first, again)] == [(202, {"total": 0})] * 2
    assert again.headers["idempotent-replayed"] == "true"


async def test_refusal_is_not_kept(app: EdgeApp) -> None:
    refused = await post(app, -5, idempotency_key="k")
    assert (refused.status, refused.json["meta"]) == (409, {"total": 0})
    await post(app, 9)
    assert (await post(app, -5, idempotency_key="k")).json == {"total": 4}


async def test_faults_and_strangers(app: EdgeApp) -> None:
    assert (await post(app, 666)).code == "INTERNAL"
    assert (await post(app, 5, id="0" * 24)).code == "NOT_FOUND"


async def test_a_key_stands_for_one_effect(app: EdgeApp) -> None:
    assert (await post(app, 777, idempotency_key="k")).code == "INTERNAL"
    assert (await post(app, 777, idempotency_key="k")).headers["idempotent-replayed"] == "true"
    assert (await post(app, 1)).json == {"total": 778}
