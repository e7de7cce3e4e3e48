"""What happens to parties in a run: who asks what, who comes online and goes."""

from actors.party.units import PartyCreation
from tests.party.play import uid
from tests.simulation.image import PARTY, USER_IDS
from tests.simulation.party_requests import asking, inviting
from tests.simulation.party_rows import KIND, Rows, all_parties, party_of
from tests.simulation.requests import Request
from tests.simulation.world import World

PARTY_SHARE = 0.5
"""How often something happens to a party, beside each step of chat."""

_WISHES = (
    *("invite",) * 6,
    *("accept",) * 6,
    *("ready",) * 3,
    *("leave",) * 2,
    *("select",) * 2,
    *("selectors", "hand over", "kick", "decline", "revoke", "disband"),
)


def party_deed(world: World) -> None:
    """Somebody comes, goes, founds a party, or asks something of one."""
    rng = world.rng
    drawn = rng.random()
    user_id = rng.choice(USER_IDS)
    if drawn < 0.3:
        world.move(user_id, online=not world.attendance.is_online(user_id))
    elif drawn < 0.38:
        world.numbered += 1
        world.found(
            PartyCreation(user_id, uid(f"party {world.numbered}"), f"f{world.numbered}", world.clock.now_ms())
        )
    elif (request := _request(world, user_id)) is not None:
        world.send(request)


def _request(world: World, user_id: str) -> Request | None:
    rng = world.rng
    what = rng.choice(_WISHES)
    if what in ("accept", "decline"):
        invited = [(id, target_id) for id, kept in all_parties(world.tables) for target_id in kept.invites]
        if not invited:
            return None
        party_id, user_id = rng.choice(invited)
    else:
        party_id = party_of(world.tables, user_id) or PARTY
    world.numbered += 1
    kept: Rows | None = world.tables.rows.get((KIND, party_id))
    leader_id = user_id if kept is None or rng.random() < 0.3 else _leader(kept)
    match what:
        case "invite":
            target_id = rng.choice(USER_IDS)
            return inviting(world.numbered, user_id, party_id, target_id, keyed=rng.random() < 0.4)
        case "accept" | "decline" | "leave" | "ready":
            return asking(world.numbered, what, user_id, party_id, "")
        case _:
            return asking(world.numbered, what, leader_id, party_id, rng.choice(USER_IDS))


def _leader(kept: Rows) -> str:
    """The one who most likely leads: who has been there longest."""
    return min(kept.members, key=lambda id: (kept.members[id], id))


def attend(world: World) -> None:
    """Who is connected when the run begins; the others come later, or never."""
    for user_id in USER_IDS[:3]:
        world.move(user_id, online=True)
