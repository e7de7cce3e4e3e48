"""The demo view of these tests: what one user put into which ledgers."""

from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import View
from tests.kernel.ledger import KIND, PURSES


class Purse(msgspec.Struct, frozen=True):
    totals: dict[str, int] = {}


async def load_purse(conn: Any, id: str) -> Purse | None:
    if id == "nobody":
        return None
    return Purse(dict(conn.rows.get(("purse", id), {})))


async def _reread(conn: Any, id: str, sources: AbstractSet[str]) -> dict[str, int]:
    if "poison" in sources:
        raise ZeroDivisionError
    return {source: conn.rows["ledger", source].total for source in sorted(sources)}


def _take(state: Purse, sources: AbstractSet[str], peek: Any) -> tuple[Purse, AbstractSet[str]]:
    totals, unknown = dict(state.totals), set()
    for source in sources:
        ledger = peek(KIND, source)
        if ledger is None:
            unknown.add(source)
        else:
            totals[source] = ledger.total
    return Purse(totals), unknown


PURSE: View[Purse] = View(
    name=PURSES,
    load=load_purse,
    reread=_reread,
    take=_take,
    absorb=lambda state, found: Purse(state.totals | found),
    rendering=Rendering(
        audience=lambda state, viewer: "owner",
        render=lambda state, audience: state.totals,
        render_event=lambda state, source, audience: Delta("purse", {source: state.totals[source]}),
    ),
)
