"""Wire: what users ask for while they are erased, or while others are whom it is about, once it has been let in.

The erasure holds its locks until the request waits for them or is answered, and is committed then. Whether the request
comes too late is up to its domain; none takes it for a fault of the service, and none makes a row of somebody who is
gone.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pytest

from persistence.users.erasure import erase
from routes.connect.parts import GAME_SERVERS
from routes.party.parts import PARTY_KINDS
from tests.connect.play import claimed, register
from tests.party.play import gather, invite, names
from tests.service import changes
from tests.support.jobs import job_named
from tests.support.locks import during
from tests.support.losing import Lost
from tests.support.one_world import in_one_world
from tests.support.world import CONVERSATIONS, Player, World, world

__all__ = ["world"]

FRIENDS, PARTY, SERVERS = "/v1/social/friends", "/v1/social/party", "/v1/connect/servers"


@dataclass(frozen=True)
class Late:
    """A request that is under way while somebody is erased.

    Args:
        caller, method, path, body: the request.
        erased: who is erased.
    """

    caller: Player
    method: str
    path: str
    body: object
    erased: Player


Case: TypeAlias = Callable[[World], Awaitable[Late]]


async def answered(world: World, late: Lost | Late, erased: Player) -> int:
    """Send the request while an erasure is under way; no answer may say that the service has failed.

    Returns its status.
    """
    statuses: list[int] = []

    async def ask() -> None:
        response = await late.caller.ask(late.method, late.path, late.body)
        assert response.status_code < 500, response.text
        statuses.append(response.status_code)

    first = partial(erase, user_id=erased.id, now_ms=world.clock.now_ms(), even_if_held=True)
    await during(world.service.database, first, ask)
    return statuses[0]


@pytest.mark.parametrize(
    "case", [case for cases in changes.CASES.values() for case in cases], ids=lambda case: case.__name__
)
async def test_who_asks_is_erased_meanwhile(world: World, case: changes.Case) -> None:
    lost = await case(world)
    await answered(world, lost, lost.caller)


# -- requests about somebody else, and those that no table of unknown outcomes has ------------------


def by_either(method: str, path: str, body: Callable[[Player], object]) -> list[Case]:
    """A request about another user, who is erased, and the same while the caller is."""

    def of(erased: int) -> Case:
        async def case(world: World) -> Late:
            people = await world.players("Ann", "Ben")
            return Late(people[0], method, path.format(people[1].id), body(people[1]), people[erased])

        case.__name__ = f"{method} {path} {'asked for' if erased else 'asking'}"
        return case

    return [of(0), of(1)]


def target(other: Player) -> dict[str, str]:
    return {"targetId": other.id}


async def accepting_a_friend(world: World) -> Late:
    ann, ben = await world.players("Ann", "Ben")
    sent = await ann.do("POST", f"{FRIENDS}/requests", {"targetId": ben.id})
    return Late(ben, "POST", f"{FRIENDS}/requests/{sent['id']}/accept", None, ann)


async def a_nickname_of_a_friend(world: World) -> Late:
    late = await accepting_a_friend(world)
    await late.caller.do(late.method, late.path)
    return Late(late.caller, "PATCH", f"{FRIENDS}/{late.erased.id}", {"note": "kind"}, late.erased)


async def making_a_party(world: World) -> Late:
    ann = await world.player("Ann")
    return Late(ann, "POST", PARTY, None, ann)


async def inviting_to_a_party(world: World) -> Late:
    ann, ben = await world.players("Ann", "Ben")
    await ann.do("POST", PARTY)
    return Late(ann, "POST", f"{PARTY}/invites", {"targetId": ben.id}, ben)


async def joining_a_party(world: World) -> Late:
    ann, ben = await world.players("Ann", "Ben")
    made = await ann.do("POST", PARTY)
    await invite(ann, ben)
    return Late(ben, "POST", f"{PARTY}/invites/{made['party']['id']}/accept", None, ben)


async def leading_a_party(world: World) -> Late:
    ann, ben = await world.players("Ann", "Ben")
    await gather(ann, ben)
    return Late(ann, "PUT", f"{PARTY}/leader", {"userId": ben.id}, ben)


async def claiming_a_server(world: World) -> Late:
    ann, server = await world.player("Ann"), await register(world)
    return Late(ann, "POST", f"{SERVERS}/claim", {"claimKey": server.claim_key}, ann)


async def a_member_of_a_server(world: World) -> Late:
    ann, ben = await world.players("Ann", "Ben")
    server = await claimed(world, ann)
    return Late(ann, "PUT", f"{SERVERS}/{server.id}/members/{ben.id}", {"role": "viewer"}, ben)


async def an_invite_to_a_server(world: World) -> Late:
    ann, ben = await world.players("Ann", "Ben")
    server = await claimed(world, ann)
    body = {"inviteeUserId": ben.id, "role": "viewer"}
    return Late(ann, "POST", f"{SERVERS}/{server.id}/invites", body, ben)


async def a_ticket_to_a_server(world: World) -> Late:
    ann, ben = await world.players("Ann", "Ben")
    server = await claimed(world, ann)
    return Late(ben, "POST", f"{SERVERS}/{server.id}/join-tickets", None, ben)


async def a_participant_of_a_group(world: World) -> Late:
    ann, ben, eve = await world.players("Ann", "Ben", "Eve")
    room = await ann.talk_to(ben, kind="group")
    return Late(ann, "POST", f"{CONVERSATIONS}/{room.id}/participants", {"userId": eve.id}, eve)


async def a_message(world: World) -> Late:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    return Late(ann, "POST", room.messages, {"content": "hello"}, ann)


async def settings(world: World) -> Late:
    ann = await world.player("Ann")
    return Late(ann, "PATCH", "/v1/profile/settings", {"privacy": {"serverListVisibility": "PRIVATE"}}, ann)


async def a_right(world: World) -> Late:
    root, ann = await world.super_admin(), await world.player("Ann")
    return Late(root, "POST", f"/v1/admin/users/{ann.id}/permissions", {"node": "perk:glow"}, ann)


async def a_note_about_somebody(world: World) -> Late:
    mona, ann = await world.ranked("Mona", "moderator"), await world.player("Ann")
    return Late(mona, "POST", f"/v1/admin/users/{ann.id}/notes", {"text": "loud"}, ann)


async def an_extension(world: World) -> Late:
    ann = await world.player("Ann")
    body = {"extensionId": "lights", "name": "Lights", "description": "", "visibility": "public"}
    await world.grant(ann, "connect:extensions:write")
    return Late(ann, "POST", "/v1/connect/extensions", body, ann)


async def revoking_tokens(world: World) -> Late:
    ann = await world.player("Ann")
    return Late(ann, "POST", "/v1/auth/revoke", None, ann)


MORE: tuple[Case, ...] = (
    *by_either("POST", f"{FRIENDS}/requests", target),
    *by_either("POST", f"{FRIENDS}/blocks", target),
    *by_either("POST", f"{FRIENDS}/reports", lambda other: {"targetId": other.id, "reason": "loud"}),
    *by_either("POST", CONVERSATIONS, lambda other: {"kind": "direct", "participantIds": [other.id]}),
    *by_either("POST", CONVERSATIONS, lambda other: {"kind": "group", "participantIds": [other.id]}),
    accepting_a_friend,
    a_nickname_of_a_friend,
    making_a_party,
    inviting_to_a_party,
    joining_a_party,
    leading_a_party,
    claiming_a_server,
    a_member_of_a_server,
    an_invite_to_a_server,
    a_ticket_to_a_server,
    a_participant_of_a_group,
    a_message,
    settings,
    a_right,
    a_note_about_somebody,
    an_extension,
    revoking_tokens,
)


@in_one_world("case", MORE, ids=lambda case: case.__name__)
async def test_somebody_is_erased_meanwhile(world: World, case: Case) -> None:
    late = await case(world)
    await answered(world, late, late.erased)


@pytest.mark.parametrize("comes", [True, False])
async def test_a_party_keeps_nobody_who_was_erased_while_they_came(world: World, *, comes: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    party_id = (await ann.do("POST", PARTY))["party"]["id"]
    late = Late(ann, "POST", f"{PARTY}/invites", {"targetId": ben.id}, ben)
    if comes:
        await invite(ann, ben)
        late = Late(ben, "POST", f"{PARTY}/invites/{party_id}/accept", None, ben)
    await answered(world, late, ben)
    await job_named(world, "erased users").run()
    shown = await ann.get(PARTY)
    assert (names(shown), shown["invites"]) == (["Ann"], [])
    service = world.home("party", party_id)
    state = service.system.peek(service.of(PARTY_KINDS).party, party_id)
    assert (state.members.keys(), state.invites) == ({ann.id}, {})


@pytest.mark.parametrize(
    "case", [a_member_of_a_server, an_invite_to_a_server], ids=lambda case: case.__name__
)
async def test_a_server_has_nobody_who_was_erased_meanwhile(world: World, case: Case) -> None:
    late = await case(world)
    await answered(world, late, late.erased)
    server_id = late.path.split("/")[4]
    service = world.home("server", server_id)
    state = service.system.peek(service.of(GAME_SERVERS).server, server_id)
    assert (late.erased.id in state.members, state.invites) == (False, {})


async def test_a_server_is_not_claimed_by_who_was_erased_meanwhile(world: World) -> None:
    late, ben = await claiming_a_server(world), await world.player("Ben")
    assert await answered(world, late, late.erased) == 404
    assert (await ben.do("POST", late.path, late.body))["server"]["ownerId"] == ben.id


async def test_a_server_is_not_passed_on_to_who_was_erased_meanwhile(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    server = await claimed(world, ann)
    offer = {"inviteeUserId": ben.id, "role": "owner"}
    made = await ann.do("POST", f"{server.path}/invites", offer, status=201)
    late = Late(ben, "POST", f"/v1/connect/server-invites/{made['id']}/accept", None, ben)
    assert await answered(world, late, ben) == 404
    assert (await ann.do("PATCH", server.path, {"isTemplate": True}))["ownerId"] == ann.id
