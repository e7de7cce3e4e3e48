"""The parts of parties: their kind of actor, with the view of a user's own party, and the days that members share."""

from typing import Any

from actors.kernel.kind import Kind
from actors.party.days_together import DaysTogether
from actors.party.kind import PartyKinds, party_kinds
from actors.party.render_cache import RenderCache
from routes.friends.parts import FRIENDS_LIVE, STREAKS
from routes.part import Opening, Part
from routes.party.memberships import MEMBERSHIPS
from routes.users.parts import PRESENCE


async def _open(opening: Opening) -> PartyKinds:
    presence, friends = await opening.of(PRESENCE), await opening.of(FRIENDS_LIVE)
    render_cache = RenderCache(friends.appearance, friends.hidden_among, presence.changes)
    return party_kinds(presence.is_online, render_cache, opening.clock.now_ms, await opening.of(MEMBERSHIPS))


async def _open_days(opening: Opening) -> DaysTogether:
    streaks = await opening.of(STREAKS)
    return DaysTogether(await opening.of(MEMBERSHIPS), streaks.together, opening.clock.now_ms)


def _kinds(parties: PartyKinds) -> tuple[Kind[Any, Any], ...]:
    return (parties.party,)


PARTY_KINDS = Part(name="parties", open=_open, kinds=_kinds)
"""The kind of parties, and the view of a user's own party."""

DAYS_TOGETHER = Part(name="days in a party", open=_open_days)
"""Who shares a party on which day."""
