"""The table of moves: complete, and what it promises holds from every standing."""

import pytest

from actors.errors import AlreadyFriends, Blocked, NotFound, Refused, RequestExists
from actors.friends.links import visibility_named
from actors.friends.moves import MOVES, Move, Standing, after, standing_of

BLOCKS = {Standing.BLOCKING, Standing.BLOCKED, Standing.ESTRANGED}

MIRROR = {
    Standing.SENT: Standing.RECEIVED,
    Standing.RECEIVED: Standing.SENT,
    Standing.BLOCKING: Standing.BLOCKED,
    Standing.BLOCKED: Standing.BLOCKING,
}
"""The same as the other sees it, where that is another."""


def test_every_move_from_every_standing_is_decided():
    assert set(MOVES) == {(standing, move) for standing in Standing for move in Move}


@pytest.mark.parametrize("standing", Standing)
@pytest.mark.parametrize("move", Move)
def test_what_comes_of_a_move(standing: Standing, move: Move):
    outcome = MOVES[standing, move]
    if not isinstance(outcome, Standing):
        with pytest.raises(outcome):
            after(standing, move)
        return
    assert after(standing, move) is outcome
    if outcome is Standing.FRIENDS:
        assert standing is Standing.RECEIVED, "nobody becomes a friend who has not asked"
    if standing in BLOCKS:
        assert move in (Move.BLOCK, Move.UNBLOCK), "nothing else moves while one of the two blocks the other"
    if move not in (Move.BLOCK, Move.UNBLOCK):
        assert outcome not in BLOCKS


@pytest.mark.parametrize("standing", Standing)
def test_after_a_block_no_request_passes_either_way(standing: Standing):
    blocking = after(standing, Move.BLOCK)
    for seen in (blocking, MIRROR.get(blocking, blocking)):
        for move in (Move.SEND, Move.ACCEPT):
            assert MOVES[seen, move] is Blocked


@pytest.mark.parametrize(
    ("standing", "move", "refusal"),
    [
        (Standing.SENT, Move.SEND, RequestExists),
        (Standing.FRIENDS, Move.SEND, AlreadyFriends),
        (Standing.SENT, Move.ACCEPT, NotFound),
        (Standing.SENT, Move.DECLINE, NotFound),
        (Standing.NONE, Move.REMOVE, NotFound),
        (Standing.BLOCKED, Move.UNBLOCK, NotFound),
    ],
)
def test_refusals_that_the_contract_names(standing: Standing, move: Move, refusal: type[Refused]):
    assert MOVES[standing, move] is refusal


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("received", [False, True])
def test_a_block_hides_what_else_there_is(linked: bool, sent: bool, received: bool):
    def standing(*, blocks: bool, blocked: bool) -> Standing:
        return standing_of(linked=linked, blocks=blocks, blocked=blocked, sent=sent, received=received)

    assert standing(blocks=True, blocked=False) is Standing.BLOCKING
    assert standing(blocks=False, blocked=True) is Standing.BLOCKED
    assert standing(blocks=True, blocked=True) is Standing.ESTRANGED
    free = standing(blocks=False, blocked=False)
    assert (free is Standing.FRIENDS) == linked
    assert (free is Standing.NONE) == (not linked and not sent and not received)


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
