"""The voice channel as a `Subject`: its users have sessions here, elsewhere and nowhere, and come and go."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from actors.party.memberships import Memberships
from actors.party.units import PartyCreation, create_party
from actors.voice import commands as voice
from actors.voice.attendance import Attendance
from actors.voice.fleet import Fleet
from actors.voice.kind import voice_kinds
from actors.voice.units_channels import ChannelCreation, found
from persistence.connection import Connection
from persistence.users.audit import Stamp
from tests.chat.play import mid, uid
from tests.chat.stage import make_users
from tests.kernel.sharing import NOW_MS, Subject

NAMES = ("ann", "bob", "cid", "dan", "eve")
NEW_ID = 1_000
"""Ids of what steps make begin here."""

PARTY = "00000000-0000-4000-8000-000000000003"
CHANNEL = "00000000-0000-4000-8000-000000000004"
ELSEWHERE = "00000000-0000-4000-8000-000000000005"
NODE = mid(700)
OTHER_NODE = mid(701)


async def _found(conn: Connection) -> None:
    await make_users(conn, NAMES)
    await create_party(conn, PartyCreation(uid("ann"), PARTY, "e1", NOW_MS - 1))
    await found(conn, ChannelCreation(uid("ann"), CHANNEL, "e2", None, PARTY, NODE, NOW_MS - 1))
    await found(conn, ChannelCreation(uid("dan"), ELSEWHERE, "e3", uid("eve"), None, NODE, NOW_MS - 1))
    await conn.execute(
        """
        INSERT INTO voice_sessions (user_id, session_id, channel_id, self_mute, self_deaf, joined_at_ms, issued_at_ms)
        VALUES ($1, $2, $3, false, false, $4, $4)
        """,
        uid("dan"),
        mid(1),
        ELSEWHERE,
        NOW_MS,
    )


def _join(user_id: str, node_id: str = NODE) -> Any:
    return lambda n: voice.Join(user_id, mid(NEW_ID + n), node_id, False, n % 2 == 0)


def _control(
    locked: bool | None, muted_ids: tuple[str, ...], most: int | None, remove_ids: tuple[str, ...]
) -> Any:
    def step(n: int) -> Any:
        stamp = Stamp(mid(2 * NEW_ID + n), NOW_MS, uid("ann"), None)
        return voice.SetControl(locked, muted_ids, most, remove_ids, stamp)

    return step


def _steps() -> st.SearchStrategy[Sequence[Any]]:
    who = st.sampled_from(NAMES).map(uid)
    session = st.integers(0, 12).map(lambda n: mid(NEW_ID + n))
    flags = st.sampled_from([None, True, False])
    nodes = st.sampled_from([NODE, OTHER_NODE])
    plain = st.one_of(
        st.builds(voice.Sync, who, session, flags, flags),
        st.builds(voice.EndSessions, st.tuples(st.tuples(who, session)), st.just("EXPIRED")),
        st.builds(voice.TellRename, who, st.sampled_from(["Ann", "Bob"])),
        st.builds(voice.MoveTo, nodes, nodes, st.just(tuple(map(uid, NAMES)))),
        st.just(voice.Look()),
    )
    controls = st.builds(
        _control,
        st.sampled_from([None, None, False]),
        st.lists(who, max_size=2).map(tuple),
        st.sampled_from([None, 2, 4]),
        st.lists(who, max_size=1).map(tuple),
    )
    joins = st.builds(_join, who)
    again = st.builds(lambda user_id: (_join(user_id), _join(user_id)), who)
    one = st.one_of(joins, controls, plain.map(_whenever))
    return st.one_of(one.map(lambda step: (step,)), again)


def _whenever(command: Any) -> Any:
    return lambda _n: command


def voice_channels() -> Subject:
    """The channel of a party whose members may all join; one of them talks elsewhere."""
    fleet = Fleet([], lambda: NOW_MS, lambda: "e")
    memberships = Memberships((uid(name), PARTY) for name in NAMES)
    kinds = voice_kinds(Attendance(fleet, lambda: NOW_MS), memberships, lambda _id: None)
    return Subject(
        made_in="actors/voice/kind.py",
        kind=kinds.channel,
        id=CHANNEL,
        found=_found,
        history=[voice.Join(uid("ann"), mid(2), NODE, False, False)],
        steps=_steps(),
    )
