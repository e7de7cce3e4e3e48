"""A party in memory, for tests of the rules: a state, commands, and the rows that a database would hold.

Names stand for users: `uid("ann")` is Ann's id everywhere.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import trio
from msgspec.structs import replace

from actors.errors import Refused
from actors.party.apply import apply
from actors.party.commands import AcceptInvite, AnyCommand, Select, SendInvite, SetReady
from actors.party.events import AnyEvent
from actors.party.kind import decide
from actors.party.loading import new_party
from actors.party.lookups import missing
from actors.party.selection import Minigame, Selection
from actors.party.state import LookedUp, State
from persistence.party.rows import PartyRow
from tests.support.websocket import Client
from tests.support.world import Player

NOW_MS = 1_795_000_000_000
PARTY_ID = "00000000-0000-4000-8000-000000000001"
OTHER_ID = "00000000-0000-4000-8000-000000000002"
ROUND = Selection("minigame", "arena", "Arena", minigame=Minigame(round_based=True))
FREE = Selection("server", "hub", "Hub")


def uid(name: str) -> str:
    """The id of a user, by their name."""
    return str(uuid5(NAMESPACE_URL, name))


def getting_ready(
    name: str, *, is_ready: bool = True, prepared: bool = True, hash_: str | None = None
) -> SetReady:
    """The command by which a member gets ready, or is no longer."""
    return SetReady(uid(name), is_ready, prepared, None, False, hash_)


class Play:
    """A party whose founder is the first of the names, and the others are members.

    Args:
        names: the names of its members, the founder first.

    Attributes:
        online: the users who are online.
        barred: pairs (one, other) of users of whom one blocks the other.
        elsewhere: the users who are in another party.
    """

    def __init__(self, *names: str) -> None:
        self.now_ms = NOW_MS
        self.online = {uid(name) for name in names}
        self.barred: set[frozenset[str]] = set()
        self.elsewhere: set[str] = set()
        self.events: list[AnyEvent] = []
        self.state: State = new_party(PartyRow(PARTY_ID, uid(names[0]), names[0], NOW_MS), "e1")
        for name in names[1:]:
            self.do(SendInvite(uid(names[0]), uid(name), f"{1:024x}"))
            self.do(AcceptInvite(uid(name)))

    def do(self, command: AnyCommand) -> Sequence[AnyEvent]:
        """Do one command in a turn, and return its events; raises the refusal."""
        state = self.state
        asked = missing(state, command)
        if asked is not None:
            user_id, _ = asked
            elsewhere = OTHER_ID if user_id in self.elsewhere else None
            barred = frozenset(asked) in self.barred
            state = replace(state, looked_up=LookedUp(user_id, f"name of {user_id}", barred, elsewhere))
        events = decide(self.online.__contains__, NOW_MS, state, command, self.now_ms)
        for event in events:
            state = apply(state, event)
        self.state = replace(state, looked_up=None)
        self.events += events
        return events

    def refusal(self, command: AnyCommand) -> str | None:
        """The code that a command is refused with; None when it is done."""
        before = self.state
        try:
            self.do(command)
        except Refused as refused:
            assert self.state is before
            return refused.code
        return None

    def select(self, selection: Selection = ROUND, *, by: str = "ann") -> None:
        """Choose what to play."""
        self.do(Select(uid(by), selection))


PARTY = "/v1/social/party"


SELECTION = f"{PARTY}/lobby/selection"


SELECTORS = f"{PARTY}/lobby/selectors"


READY = f"{PARTY}/lobby/ready"


INVITES = f"{PARTY}/invites"


ARENA = {
    "targetKind": "minigame",
    "targetId": "arena",
    "displayName": "Arena",
    "serverAddress": "play.example.org:25565",
    "minigame": {"mode": "duel", "variant": "classic", "roundBased": True},
    "profileRequirement": {"minecraftVersion": "1.21", "loader": "fabric", "requiredMods": ["sodium"]},
}


async def invite(one: Player, other: Player) -> Any:
    return await one.do("POST", INVITES, {"targetId": other.id}, status=200)


async def gather(leader: Player, *others: Player) -> str:
    """Make a party of a leader and others; returns its id."""
    party_id = (await leader.do("POST", PARTY, status=200))["party"]["id"]
    for other in others:
        await invite(leader, other)
        await other.do("POST", f"{INVITES}/{party_id}/accept", status=200)
    return party_id


async def accept_at_once(invited: Mapping[Player, str]) -> dict[Player, int]:
    """Have users accept the invites of parties, by id, at the same moment; returns the statuses."""
    statuses: dict[Player, int] = {}

    async def accept(player: Player, party_id: str) -> None:
        statuses[player] = (await player.ask("POST", f"{INVITES}/{party_id}/accept")).status_code

    async with trio.open_nursery() as nursery:
        for player, party_id in invited.items():
            nursery.start_soon(accept, player, party_id)
    return statuses


def names(frame: Any) -> list[str]:
    return [member["name"] for member in frame["party"]["members"]]


async def ready(player: Player, *, is_ready: bool = True, **more: object) -> Any:
    return await player.do("PUT", READY, {"ready": is_ready, "profilePrepared": True, **more}, status=200)


async def subscribe(socket: Client, since: object = None, *, mode: str = "delta") -> tuple[Any, Any]:
    """Subscribe to the party; returns the reply, and the first frame if there is one."""
    command: dict[str, Any] = {"id": 1, "op": "subscribe", "channel": "party", "params": {"mode": mode}}
    if since is not None:
        command["since"] = since
    await socket.send_json(command)
    while (reply := await socket.receive_json())["type"] != "reply":
        pass
    return reply, None if reply["recovered"] else await socket.receive_json()


async def end_in_one(ann: Player, ben: Player) -> None:
    """Have two users who lead parties of their own and have invited each other accept at once: one of the parties has
    both afterwards. They leave it again.
    """
    hers, his = await gather(ann), await gather(ben)
    await invite(ann, ben)
    await invite(ben, ann)
    statuses = await accept_at_once({ann: his, ben: hers})
    assert sorted(statuses.values()) == [200, 404]
    assert sorted(names(await ann.get(PARTY))) == [ann.name, ben.name]
    assert (await ben.get(PARTY))["party"]["id"] == (his if statuses[ann] == 200 else hers)
    for player in (ann, ben):
        await player.do("POST", f"{PARTY}/leave", status=200)


async def in_a_circle(own: Mapping[Player, str]) -> None:
    """Have the only members of parties, each invited into the next one's, accept at once: whoever is told so is in that
    party then, and whoever is refused in their own. They leave it again.

    Args:
        own: {leader: the party's id}.
    """
    people = list(own)
    hosts = dict(zip(people, (*people[1:], people[0]), strict=True))
    for guest, host in hosts.items():
        await invite(host, guest)
    statuses = await accept_at_once({guest: own[host] for guest, host in hosts.items()})
    assert set(statuses.values()) <= {200, 404, 409}
    for guest, host in hosts.items():
        party = (await guest.get(PARTY))["party"]
        assert party is not None and party["id"] == own[host if statuses[guest] == 200 else guest], statuses
    for player in people:
        await player.do("POST", f"{PARTY}/leave", status=200)
