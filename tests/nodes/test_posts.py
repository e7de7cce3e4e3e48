"""Commands for owners on other nodes: as they are answered at home, in order, once; whatever becomes of the bus."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import trio

from actors.errors import Conflict, Elsewhere, Invalid, Overloaded, QuotaExceeded, Refused
from actors.field_errors import FieldError
from actors.kernel.facets import Followers, News
from actors.kernel.mailbox import Answer
from actors.kernel.nodes.entries import Failed, Heard
from actors.kernel.nodes.failures import RENEWED, failed, failure
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable, LimitReached, OutcomeUnknown
from tests.kernel.ledger import KIND, Changed, Deposit, Read, SetAlarm, Wave, Withdraw
from tests.nodes.realm import Realm, open_realm
from tests.support.bus import FAIR, FOUL

LETTERS = 60


class Client:
    """Somebody on one node who says one thing after the other, without waiting."""

    def __init__(self, realm: Realm, node: str, id: str) -> None:
        self.answers: list[tuple[int, Answer]] = []
        self._realm = realm
        self._node = node
        self._id = id
        self._said = 0

    def say(self, command: Any, heard: Callable[[Answer], None] | None = None) -> None:
        number = self._said
        self._said += 1

        def answered(answer: Answer) -> None:
            self.answers.append((number, answer))
            if heard is not None:
                heard(answer)

        self._realm.nodes[self._node].system.post(KIND, self._id, command, answered)

    @property
    def replies(self) -> list[Any]:
        return [answer.error or answer.reply for _, answer in self.answers]

    @property
    def order(self) -> list[int]:
        return [number for number, _ in self.answers]


async def test_an_answer_from_elsewhere_is_that_of_home(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        for node in ("a", "b"):
            client = Client(realm, node, "b0")
            for command in (Deposit("ann", 5), Wave("ann"), Read("ann"), Withdraw("ann", 99)):
                client.say(command)
            await trio.sleep(1)
            total = realm.simulation.rows["ledger", "b0"].total
            *replies, refused = client.replies
            assert replies == [total] * 3
            assert isinstance(refused, Conflict)
            assert (refused.message, refused.meta) == ("there is not that much", {"total": total})
        client = Client(realm, "a", "b0")
        client.say(SetAlarm(1))
        await trio.sleep(1)
        assert [type(one) for one in client.replies] == [Elsewhere]  # what does not cross is not sent


@pytest.mark.parametrize("seed", range(10))
async def test_letters_are_decided_once_and_in_order(autojump_clock: object, seed: int) -> None:
    """While the bus loses, repeats and delays, and the owner goes from node to node."""
    async with open_realm("a", "b", "c", seed=seed) as realm:
        client = Client(realm, "a", "b0")
        realm.bus.weather = FOUL

        async def speak() -> None:
            for number in range(LETTERS):
                client.say(Deposit("ann", 100 + number))
                await trio.sleep(0.02)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(speak)
            for to in ("c", "a", "b"):
                await trio.sleep(0.3)
                await realm.give("b0", to)
        await trio.sleep(10)
        realm.bus.weather = FAIR
        await trio.sleep(10)
        assert client.order == list(range(LETTERS))
        done = [number for number, answer in client.answers if answer.error is None]
        unsure = [number for number, answer in client.answers if isinstance(answer.error, OutcomeUnknown)]
        written = [entry.amount - 100 for entry in realm.simulation.rows["entries", "b0"]]
        assert written == sorted(written), "in order"
        assert len(set(written)) == len(written), "once"
        assert set(done) <= set(written) <= {*done, *unsure}
        assert done


async def test_what_a_dead_node_may_have_done_is_unknown(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        client = Client(realm, "a", "b0")
        client.say(Deposit("ann", 1))
        await realm.kill("b", heir="a")
        client.say(Deposit("ann", 2))
        await trio.sleep(1)
        assert [type(one) for one in client.replies] == [OutcomeUnknown, int]
        assert realm.nodes["a"].system.peek(KIND, "b0") is not None


async def test_an_answer_for_a_former_life_is_nobodys(autojump_clock: object) -> None:
    """A node begins anew at once, and asks somebody else before what it asked in its former life is answered."""
    async with open_realm("a", "b", "c") as realm:
        b, c = realm.nodes["b"].where, realm.nodes["c"].where
        at_b, at_c = b.shard_of(KIND.name, "b0"), c.shard_of(KIND.name, "c0")
        b.moving.add(at_b)
        c.moving.add(at_c)
        former = realm.nodes.pop("a")
        former.system.post(KIND, "b0", Deposit("ann", 1000), lambda _: None)
        await trio.sleep(0.1)
        former.scope.cancel()
        await former.gone.wait()
        await realm.begin("a")
        client = Client(realm, "a", "c0")
        client.say(Deposit("bob", 7))
        await trio.sleep(0.1)
        b.moving.discard(at_b)
        b.changed()
        await trio.sleep(1)
        assert realm.simulation.rows["ledger", "b0"].total == 1000
        assert client.replies == []
        c.moving.discard(at_c)
        c.changed()
        await trio.sleep(1)
        assert client.replies == [7]


async def test_memory_on_all_nodes_hears_of_what_it_may_have_missed(autojump_clock: object) -> None:
    heard: list[str] = []
    kind = replace(KIND, followers=Followers(on_outcome_unknown=heard.append))
    async with open_realm("a", "b", "c", kind=kind) as realm:
        realm.simulation.script.append("unknown_landed")
        with pytest.raises(OutcomeUnknown):
            await realm.nodes["b"].system.ask(kind, "b0", Deposit("ann", 1))
        await trio.sleep(1)
        assert heard == ["b0"] * 3


async def test_news_in_a_form_of_another_release_is_asked_for(autojump_clock: object) -> None:
    heard: list[str] = []
    news = News(of=frozenset(), hear=lambda id, _event: heard.append(f"news of {id}"))
    kind = replace(KIND, followers=Followers(news=news, on_outcome_unknown=heard.append))
    async with open_realm("a", "b", kind=kind) as realm:
        realm.nodes["a"].peers.tell_all(Heard(KIND.name, "a0", "Unheard", b""))
        await trio.sleep(1)
        assert heard == ["a0"]


async def test_news_of_a_former_owner_that_come_after_those_of_the_next_are_asked_for(
    autojump_clock: object,
) -> None:
    """A node that both others reach, but one of them late, does not undo what it has heard before."""
    heard: list[int | str] = []

    def listening(hear: Callable[[str, Changed], object], unknown: Callable[[str], object]) -> Any:
        news = News(of=frozenset((Changed,)), hear=hear)
        return replace(KIND, followers=Followers(news=news, on_outcome_unknown=unknown))

    kind = listening(lambda *_: None, lambda _: None)
    async with open_realm("a", "b", kind=kind) as realm:
        realm.kind = listening(lambda _, event: heard.append(event.amount), heard.append)
        await realm.begin("c")
        a, b = realm.nodes["a"].system, realm.nodes["b"].system
        await a.ask(kind, "a0", Deposit("ann", 1))
        await trio.sleep(1)
        assert heard == [1]
        realm.bus.parted.add(frozenset("ac"))
        await a.ask(kind, "a0", Deposit("ann", 2))
        assert await realm.give("a0", "b")
        await trio.sleep(0.1)
        await b.ask(kind, "a0", Deposit("ann", 3))
        await trio.sleep(0.1)
        assert heard == [1, 3]
        realm.bus.parted.clear()
        await trio.sleep(1)
        assert heard == [1, 3, "a0"]


async def test_a_command_of_another_release_is_refused_for_now(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        realm.kind = replace(KIND, crossing={Read: int})
        await realm.begin("c")
        realm.own("c", "c0")
        client = Client(realm, "a", "c0")
        client.say(Deposit("ann", 1))
        await trio.sleep(1)
        (refused,) = client.replies
        assert (type(refused), refused.message) == (Overloaded, RENEWED)


async def test_a_silent_node_is_not_asked(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        client = Client(realm, "a", "b0")
        realm.bus.parted.add(frozenset("ab"))
        client.say(Deposit("ann", 1))
        await trio.sleep(3)
        client.say(Deposit("ann", 2))
        assert [type(one) for one in client.replies] == [Overloaded]
        await trio.sleep(3)
        assert [type(one) for one in client.replies] == [Overloaded, OutcomeUnknown]


async def test_an_owner_between_two_nodes_is_waited_for(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        (shard,) = [realm.nodes["b"].where.shard_of(KIND.name, "b0")]
        realm.nodes["b"].where.moving.add(shard)
        at_home, away = Client(realm, "b", "b0"), Client(realm, "a", "b0")
        for number in range(3):
            at_home.say(Deposit("ann", number + 1))
            away.say(Deposit("bob", number + 1))
        await trio.sleep(1)
        assert not at_home.answers
        assert not away.answers
        realm.nodes["b"].where.moving.discard(shard)
        realm.nodes["b"].where.changed()
        await trio.sleep(1)
        assert (at_home.order, away.order) == ([0, 1, 2], [0, 1, 2])
        # One that stays away for too long is not waited for longer than a caller waits.
        realm.nodes["b"].where.moving.add(shard)
        await realm.nodes["b"].system.drain()
        at_home.say(Deposit("ann", 7))
        await trio.sleep(6)
        assert isinstance(at_home.replies[-1], Overloaded)


async def test_a_caller_who_leaves_is_forgotten(autojump_clock: object) -> None:
    async with open_realm("a", "b") as realm:
        realm.bus.parted.add(frozenset("ab"))
        system = realm.nodes["a"].system
        with trio.move_on_after(0.1):
            await system.ask(KIND, "b0", Deposit("ann", 1))
        realm.bus.parted.clear()
        await trio.sleep(2)
        assert await system.ask(KIND, "b0", Read("ann")) == 1
        with pytest.raises(TypeError):
            await system.ask(KIND, "b0", SetAlarm(1))


@pytest.mark.parametrize(
    "error",
    [
        Conflict("so", total=3),
        Invalid(FieldError("/a", "BAD", "it is bad"), FieldError("/b", "BAD", "too")),
        QuotaExceeded(max=4, message="enough"),
        Overloaded(),
        DatabaseUnavailable("a secret"),
        OutcomeUnknown("a secret"),
        LimitReached("a user may own 100 servers", 100),
        Fault(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_failure_crosses_whole(error: Exception) -> None:
    told = failed(error)
    assert "secret" not in str(told)
    again = failure(told)
    assert type(again) is type(error)
    if isinstance(error, Refused):
        assert isinstance(again, Refused)
        assert (again.message, again.meta) == (error.message, error.meta)
    for name in ("errors", "most"):
        assert getattr(again, name, ()) == getattr(error, name, ())
    if isinstance(error, LimitReached):
        assert str(again) == str(error)


def test_a_refusal_of_another_release_is_a_failure() -> None:
    assert type(failure(Failed("Unheard", "so"))) is DatabaseUnavailable
