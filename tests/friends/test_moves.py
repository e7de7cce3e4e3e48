"""The table of moves: complete, and what it promises holds from every standing."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from actors.errors import AlreadyFriends, Blocked, NotFound, Refused, RequestExists
from actors.friends.moves import MOVES, Move, Relation, after, standing_of
from actors.friends.units_links import visibility_named

BLOCKS = {Relation.BLOCKING, Relation.BLOCKED, Relation.ESTRANGED}

MIRROR = {
    Relation.SENT: Relation.RECEIVED,
    Relation.RECEIVED: Relation.SENT,
    Relation.BLOCKING: Relation.BLOCKED,
    Relation.BLOCKED: Relation.BLOCKING,
}
"""The same as the other sees it, where that is another."""


def test_every_move_from_every_standing_is_decided():
    assert set(MOVES) == {(standing, move) for standing in Relation for move in Move}


@pytest.mark.parametrize("standing", Relation)
@pytest.mark.parametrize("move", Move)
def test_what_comes_of_a_move(standing: Relation, move: Move):
    outcome = MOVES[standing, move]
    if not isinstance(outcome, Relation):
        with pytest.raises(outcome):
            after(standing, move)
        return
    assert after(standing, move) is outcome
    if outcome is Relation.FRIENDS:
        assert standing is Relation.RECEIVED, "nobody becomes a friend who has not asked"
    if standing in BLOCKS:
        assert move in (Move.BLOCK, Move.UNBLOCK), "nothing else moves while one of the two blocks the other"
    if move not in (Move.BLOCK, Move.UNBLOCK):
        assert outcome not in BLOCKS


@pytest.mark.parametrize("standing", Relation)
def test_after_a_block_no_request_passes_either_way(standing: Relation):
    blocking = after(standing, Move.BLOCK)
    for seen in (blocking, MIRROR.get(blocking, blocking)):
        for move in (Move.SEND, Move.ACCEPT):
            assert MOVES[seen, move] is Blocked


@pytest.mark.parametrize(
    ("standing", "move", "refusal"),
    [
        (Relation.SENT, Move.SEND, RequestExists),
        (Relation.FRIENDS, Move.SEND, AlreadyFriends),
        (Relation.SENT, Move.ACCEPT, NotFound),
        (Relation.SENT, Move.DECLINE, NotFound),
        (Relation.NONE, Move.REMOVE, NotFound),
        (Relation.BLOCKED, Move.UNBLOCK, NotFound),
    ],
)
def test_refusals_that_the_contract_names(standing: Relation, move: Move, refusal: type[Refused]):
    assert MOVES[standing, move] is refusal


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("received", [False, True])
def test_a_block_hides_what_else_there_is(linked: bool, sent: bool, received: bool):
    def standing(*, blocks: bool, blocked: bool) -> Relation:
        return standing_of(linked=linked, blocks=blocks, blocked=blocked, sent=sent, received=received)

    assert standing(blocks=True, blocked=False) is Relation.BLOCKING
    assert standing(blocks=False, blocked=True) is Relation.BLOCKED
    assert standing(blocks=True, blocked=True) is Relation.ESTRANGED
    free = standing(blocks=False, blocked=False)
    assert (free is Relation.FRIENDS) == linked
    assert (free is Relation.NONE) == (not linked and not sent and not received)


@pytest.mark.parametrize(
    ("text", "visibility"),
    [
        ("HIDDEN", "HIDDEN"),
        ("LIMITED", "LIMITED"),
        ("DEFAULT", "DEFAULT"),
        ("hidden", "DEFAULT"),
        ("", "DEFAULT"),
    ],
)
def test_a_visibility_that_is_none_means_the_default(text: str, visibility: str):
    assert visibility_named(text) == visibility


class Two(RuleBasedStateMachine):
    """Two users who do what they like, as marks on a sheet; the table must come to the same from both sides.

    linked: they are friends. asked: who has a request waiting. blocking: who blocks the other.
    """

    def __init__(self) -> None:
        super().__init__()
        self.linked = False
        self.asked: set[int] = set()
        self.blocking: set[int] = set()

    def stands(self, one: int) -> Relation:
        other = 1 - one
        return standing_of(
            linked=self.linked,
            blocks=one in self.blocking,
            blocked=other in self.blocking,
            sent=one in self.asked,
            received=other in self.asked,
        )

    @rule(one=st.integers(0, 1), move=st.sampled_from(Move))
    def play(self, one: int, move: Move) -> None:
        """Do it on the sheet where the sheet allows, and hold it against the table."""
        before = self.stands(one)
        allowed = self.write(one, move)
        if not allowed:
            assert not isinstance(MOVES[before, move], Relation), (before, move)
            return
        assert after(before, move) is self.stands(one), (before, move)

    def write(self, one: int, move: Move) -> bool:
        """What the move does to the sheet; False when it does nothing."""
        other, barred = 1 - one, bool(self.blocking)
        match move:
            case Move.SEND | Move.ACCEPT if not barred and other in self.asked:
                self.linked, self.asked = True, set()
            case Move.SEND if not barred and not self.linked and one not in self.asked:
                self.asked = {one}
            case Move.DECLINE if other in self.asked:
                self.asked = set()
            case Move.CANCEL if self.asked:
                self.asked = set()
            case Move.REMOVE if self.linked:
                self.linked = False
            case Move.BLOCK:
                self.linked, self.asked = False, set()
                self.blocking = self.blocking | {one}
            case Move.UNBLOCK if one in self.blocking:
                self.blocking = self.blocking - {one}
            case _:
                return False
        return True

    @invariant()
    def both_see_the_same(self) -> None:
        """What the one sees is the mirror of what the other sees, and nothing is left beside a block."""
        mine, theirs = self.stands(0), self.stands(1)
        assert MIRROR.get(mine, mine) is theirs
        assert not self.blocking or not (self.linked or self.asked)
        assert not (self.linked and self.asked)


TestTwo = Two.TestCase
