"""What is kept in memory beside parties: who is in which, who is away, who shares a day."""

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from actors.errors import NotFound
from actors.kernel.mailbox import Answer, Failure
from actors.party.absence import TOLD_AT_ONCE, Absences
from actors.party.commands import TellPresence
from actors.party.events import AnyEvent, MemberJoined, MembersLeft
from actors.party.memberships import Memberships
from actors.party.own_view import OwnParty, recall, size_bytes
from actors.party.selection import MAX_MODS, ProfileRequirement
from actors.party.state import TRAIL, TRAIL_BYTES
from actors.users.presence import GRACE_MS, Presence
from persistence.errors import DatabaseUnavailable
from tests.party.play import FREE, PARTY_ID, Play, uid


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.ms = 1_000_000

    def now_ms(self) -> int:
        return self.ms


def test_memberships_follow_what_happens():
    memberships = Memberships([("a", "p"), ("b", "p"), ("c", "q")])
    heard: list[tuple[str, str | None]] = []
    memberships.on_change(lambda user_id, party_id: heard.append((user_id, party_id)))
    assert (memberships.of("a"), memberships.of("x"), len(memberships)) == ("p", None, 3)
    assert memberships.members("p") == {"a", "b"}
    memberships.joined("a", "p")
    memberships.joined("a", "q")
    memberships.left("a", "p")  # told late: they are in another by now
    memberships.left("b", "p")
    assert heard == [("a", "q"), ("b", None)]
    assert (memberships.members("p"), memberships.members("q")) == (set(), {"a", "c"})


def tell(memberships: Memberships, event: AnyEvent) -> None:
    """What the kernel does with an event that is committed, wherever the party lives: another node has its bytes."""
    news = memberships.news()
    if type(event) in news.of:
        news.hear(PARTY_ID, msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=AnyEvent))


def test_memberships_equal_the_parties_they_follow():
    play = Play("ann", "bob", "cid")
    memberships = Memberships([(uid("ann"), PARTY_ID)])
    for event in play.events:
        tell(memberships, event)
    assert set(memberships.members(PARTY_ID)) == play.state.members.keys()
    assert any(isinstance(event, MemberJoined) for event in play.events)
    tell(memberships, MembersLeft(tuple(play.state.members), None, 0))
    assert len(memberships) == 0


def absences(
    *members: str, failures: list[Failure | None] | None = None
) -> tuple[Absences, Presence, Memberships, HandClock, list[TellPresence]]:
    clock = HandClock()
    presence, memberships = Presence(clock), Memberships([(member, "p") for member in members])
    sent: list[TellPresence] = []

    def send(_party_id: str, command: TellPresence, answer: Callable[[Answer], None]) -> None:
        sent.append(command)
        answer(Answer(None, failures.pop(0) if failures else None))

    told = Absences(presence, memberships, send, clock.now_ms)
    presence.on_change(told.heard)
    return told, presence, memberships, clock, sent


def test_who_goes_and_comes_back_is_told_at_once():
    _, presence, _, clock, sent = absences("a")
    presence.opened("a")
    presence.opened("stranger")
    assert sent == []
    presence.closed("a")
    presence.closed("stranger")
    clock.ms += GRACE_MS
    presence.tick()
    assert sent == [TellPresence("a", clock.ms)]
    presence.opened("a")
    assert sent[1:] == [TellPresence("a", None)]


def test_who_was_never_here_is_found():
    told, presence, memberships, clock, sent = absences("a", "b")
    presence.opened("a")
    told.look()
    told.look()
    assert sent == [TellPresence("b", clock.ms)]
    memberships.joined("b", "q")  # another party has not been told
    told.look()
    assert len(sent) == 2
    presence.opened("b")
    assert sent[2:] == [TellPresence("b", None)]


@pytest.mark.parametrize("failure", [DatabaseUnavailable("away"), NotFound("gone"), None])
def test_a_party_that_could_not_be_told_is_told_again(failure: Failure | None):
    """Else a member who is away would stay, and one who is back would be let go. A party that is gone is left alone."""
    failures: list[Failure | None] = []
    told, presence, _, clock, sent = absences("a", failures=failures)
    times = 2 if isinstance(failure, DatabaseUnavailable) else 1
    presence.opened("a")
    presence.closed("a")
    clock.ms += GRACE_MS
    failures.append(failure)
    presence.tick()
    gone_ms = clock.ms
    clock.ms += 5_000
    told.look()
    told.look()
    assert sent == times * [TellPresence("a", gone_ms)]
    failures.append(failure)
    presence.opened("a")
    told.look()
    told.look()
    assert sent[times:] == times * [TellPresence("a", None)]


def test_who_is_told_in_vain_holds_up_nobody_else():
    members = [f"u{number:03}" for number in range(3 * TOLD_AT_ONCE)]
    failures: list[Failure | None] = [DatabaseUnavailable("away")] * (TOLD_AT_ONCE + len(members))
    told, _, _, _, sent = absences(*members, failures=failures)
    told.look()
    told.look()
    told.look()
    assert [command.user_id for command in sent] == members
    told.look()
    told.look()
    assert [command.user_id for command in sent[len(members) :]] == members[: 2 * TOLD_AT_ONCE]


def test_of_who_has_left_meanwhile_nobody_is_told_again():
    told, presence, memberships, _, sent = absences("a", failures=[None, DatabaseUnavailable("away")])
    told.look()
    presence.opened("a")
    memberships.left("a", "p")
    memberships.joined("a", "q")
    told.look()
    assert sent[1:] == [TellPresence("a", None)]


def test_a_look_is_bounded():
    told, _, _, _, sent = absences(*(f"u{number}" for number in range(TOLD_AT_ONCE + 1)))
    told.look()
    assert len(sent) == TOLD_AT_ONCE
    told.look()
    assert len({command.user_id for command in sent}) == TOLD_AT_ONCE + 1


def test_former_states_are_remembered_by_what_was_selected():
    play = Play("ann", "bob")
    for number in range(TRAIL + 2):
        play.select(replace(FREE, target_id=f"{number}"))
    assert len(play.state.trail) == TRAIL
    mods = tuple([] for _ in range(MAX_MODS))
    costly = replace(FREE, profile_requirement=ProfileRequirement(required_mods=(mods,) * (MAX_MODS // 8)))
    for number in range(TRAIL + 2):
        play.select(replace(costly, target_id=f"{number}"))
    sizes = [len(msgspec.json.encode(one.lobby.selection)) for one in play.state.trail]
    assert sum(sizes) <= TRAIL_BYTES < sum(sizes) + sizes[-1]
    assert size_bytes(play.state) == len(msgspec.json.encode(play.state.lobby.selection))
    remembered = play.state.revision - len(sizes) - 1
    assert recall(OwnParty("ann", play.state, {}), remembered) is not None
    assert recall(OwnParty("ann", play.state, {}), remembered - 1) is None
