"""A user's own party as a view: the party that they are in, whichever that is, and the invites that stand.

It follows the user from party to party. Its offsets are durable, because they are those of the party: the offset is the
party's revision, and `epoch` names the party's history together with the user's own invites, which have none. So a
client that comes back with the epoch has missed nothing but revisions, which the party's journal can tell again; and
where the user has changed parties, or an invite has come or gone, the epoch is another and a snapshot follows.

How members appear has no revision. A frame that is equal to the one before it would tell its viewer that something was
done about them, as by a member who looks offline anyway and hides from them now: such a change sends nothing.
"""

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from sys import intern
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from actors.kernel.facets import Delta, Rendering
from actors.kernel.kind import Durable, Kind, Peek, View
from actors.own_views import owner_only
from actors.party import loading
from actors.party.render_cache import RenderCache
from actors.party.state import Invite, State
from persistence.connection import Connection
from persistence.party import rows

NAME = "own_party"
"""The view's name; its channel is called `party`."""

FACES = ""
"""A source that is no party's id: the appearance of somebody in the party has changed."""

INTERVAL_MS = 50
"""Least time between two frames to one viewer: short, so that a launch is not kept waiting."""


NO_INVITES: Mapping[str, Invite] = MappingProxyType({})
"""An empty `incoming`, shared by all views: nearly every open socket has one, and few have invites."""


class OwnParty(msgspec.Struct, frozen=True):
    """The state of one user's view.

    Args:
        party: the party that the user is in; None for none.
        incoming: {party id: invite} of invites that the user has received and that have not lapsed; `NO_INVITES` where
            there are none.
        looks: counts the changes of how the party's users appear to the user.
    """

    user_id: str
    party: State | None
    incoming: Mapping[str, Invite]
    looks: int = 0


class OwnPartyRules:
    """The functions of the view that need more than their arguments.

    Args:
        kind: the kind of a party.
        render_cache: makes JSON of parties.
        now_ms: returns epoch milliseconds.
    """

    def __init__(self, kind: Kind[State, Any], render_cache: RenderCache, now_ms: Callable[[], int]) -> None:
        self._kind = kind
        self._render_cache = render_cache
        self._now_ms = now_ms
        # {user id: a hash of what their sockets were shown last; None where those were shown different things}
        self._shown: dict[str, int | None] = {}

    def view(self) -> View[OwnParty]:
        """Make the record that the kernel runs."""
        return View(
            name=NAME,
            load=load,
            load_many=load_many,
            reread=_reread,
            take=self.take,
            absorb=absorb,
            rendering=Rendering(audience=owner_only, render=self.render, render_event=self.render_event),
            interval_ms=INTERVAL_MS,
            adopt=self._adopt,
            release=self._forget,
            durable=Durable(position=position, replay=replay, recall=recall, size_bytes=size_bytes),
            differing=differing,
        )

    def take(
        self, state: OwnParty, sources: AbstractSet[str], peek: Peek
    ) -> tuple[OwnParty, AbstractSet[str]]:
        """The view brought up to date from live parties, and the ids of parties that have to be read from rows."""
        unread: set[str] = set()
        for source in sources:
            if source == FACES:
                continue
            live: State | None = peek(self._kind, source)
            if live is None:
                unread.add(source)
            else:
                state = with_party(state, live)
        if FACES in sources and self._shown.get(state.user_id) != hash(self._snapshot(state.party, state)):
            state = replace(state, looks=state.looks + 1)
        return state, unread

    def render(self, state: OwnParty, _audience: None) -> Raw:
        """The PartySnapshot."""
        return self._encoded(state.party, state)

    def _adopt(self, _before: OwnParty | None, state: OwnParty) -> OwnParty:
        self._forget(state)  # all who watch are sent this state now
        return state

    def _forget(self, state: OwnParty) -> None:
        self._shown.pop(state.user_id, None)

    def render_event(self, state: OwnParty, event: "State | str", _audience: None) -> Delta:
        """One revision of the party; where something else has changed, the party as it is now.

        Args:
            event: the party at that revision, or the source of another change.
        """
        return Delta(
            "party_updated", self._encoded(event if isinstance(event, State) else state.party, state)
        )

    def _encoded(self, party: State | None, state: OwnParty) -> Raw:
        made = self._snapshot(party, state)
        user_id, newest = state.user_id, state.party
        if party is not None and newest is not None and party.revision >= newest.revision:
            shown = hash(made)
            self._shown[user_id] = shown if self._shown.get(user_id, shown) == shown else None
        return Raw(made)

    def _snapshot(self, party: State | None, state: OwnParty) -> bytes:
        incoming = state.incoming.values()
        return self._render_cache.snapshot(party, incoming, state.user_id, now_ms=self._now_ms())


async def load(conn: Connection, user_id: str) -> OwnParty:
    """Load a user's view from rows. It exists for every user, with no party and no invites where there are none."""
    return (await load_many(conn, [user_id]))[user_id]


async def load_many(conn: Connection, user_ids: Sequence[str]) -> dict[str, OwnParty]:
    """{user id: what `load` returns}."""
    of, invites = await rows.standings_of(conn, user_ids)
    parties = {party_id: await loading.load(conn, party_id) for party_id in dict.fromkeys(of.values())}
    found: dict[str, OwnParty] = {}
    for user_id in user_ids:
        party = parties.get(of.get(user_id, ""))
        if party is not None and user_id not in party.members:  # they have left between the two reads
            party = None
        incoming = {row.party_id: loading.invite_of(row) for row in invites[user_id]}
        found[user_id] = OwnParty(user_id, party, incoming or NO_INVITES)
    return found


async def _reread(conn: Connection, user_id: str, _sources: AbstractSet[str]) -> OwnParty:
    return await load(conn, user_id)


def differing(shown: OwnParty, stored: OwnParty) -> Collection[str]:
    """The source with which a view that does not say what its rows say reads all of them again."""
    same = position(shown) == position(stored) and shown.incoming == stored.incoming
    return () if same else ("",)


def absorb(state: OwnParty, found: OwnParty) -> OwnParty:
    """The view after `reread`, with what the rows say in place of what it held."""
    return replace(found, looks=state.looks)


def with_party(state: OwnParty, live: State) -> OwnParty:
    """The view after a change of one party: the user's membership and invites as that party holds them."""
    if state.user_id in live.members:
        state = replace(state, party=live)
    elif state.party is not None and state.party.id == live.id:
        state = replace(state, party=None)
    invite = None if live.ended else live.invites.get(state.user_id)
    if invite is not None and invite.lapsed:
        invite = None
    if invite == state.incoming.get(live.id):
        return state
    others = {id: one for id, one in state.incoming.items() if id != live.id}
    return replace(state, incoming=others if invite is None else {**others, live.id: invite})


def position(state: OwnParty) -> tuple[str, int]:
    """The epoch and the offset of a state (see the module)."""
    invites = _digest(state.incoming)
    if state.party is None:
        return intern(f"-.{invites}"), 0  # the same for nearly everybody
    # Once somebody was erased, the past is told in other words: nobody goes on from where they were.
    erased = f".{state.party.erased}" if state.party.erased else ""
    return f"{state.party.epoch}.{invites}{erased}", state.party.revision


def recall(state: OwnParty, after: int) -> list[tuple[int, State]] | None:
    """The party at each revision above `after`; None when one of them is no longer in memory.

    Args:
        after: the revision that the viewer has.
    """
    party = state.party
    if party is None:
        return None
    told = [(one.revision, one) for one in (*party.trail, party) if one.revision > after]
    return told if told and told[0][0] == after + 1 else None


async def replay(conn: Connection, user_id: str, after: int, upto: int) -> list[tuple[int, State]] | None:
    """The party at each revision above `after` up to `upto`, from its journal; None when some are not known any more.

    Args:
        after: the revision that the viewer has.
        upto: the last revision that is wanted.
    """
    party_id = await rows.party_of(conn, user_id)
    return None if party_id is None else await loading.replay(conn, party_id, after, upto)


def size_bytes(party: State) -> int:
    """How many bytes a former state of a party takes to be kept: what was selected then, as JSON."""
    return party.lobby.selection_bytes


def _digest(incoming: Mapping[str, Invite]) -> str:
    named = sorted(f"{id} {invite.created_at_ms}" for id, invite in incoming.items())
    return f"{zlib.crc32(','.join(named).encode()):x}"
