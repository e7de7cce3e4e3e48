"""Polls: votes, closing, expiry."""

from typing import Any

import pytest

from actors.chat.commands import ClosePoll, DeleteMessage, VotePoll
from actors.chat.events import PollClosed as PollHasClosed
from actors.chat.records import decode
from actors.chat.rules_polls import due, expire
from actors.errors import ConversationNotFound, Forbidden, Invalid, NotFound, PollClosed
from actors.polls import Poll
from tests.chat.play import NOW_MS, Play, a_poll, mid, uid


def with_poll(**fields: Any) -> Play:
    play = Play()
    play.post("bob", None, poll=a_poll("red", "blue", "green", **fields))
    return play


def shown(play: Play) -> Poll:
    poll = decode(bytes(play.reply)).poll
    assert poll is not None
    return poll


def counts(poll: Poll) -> tuple[list[int], int, int]:
    return [option.votes for option in poll.options], poll.total_votes, poll.total_voters


@pytest.mark.parametrize(
    ("multiple", "choices", "expected"),
    [
        (False, [("ann", "1")], ([1, 0, 0], 1, 1)),
        (False, [("ann", "1"), ("ann", "2")], ([0, 1, 0], 1, 1)),
        (False, [("ann", "1"), ("cid", "1")], ([2, 0, 0], 2, 2)),
        (False, [("ann", "1"), ("ann", "")], ([0, 0, 0], 0, 0)),
        (True, [("ann", "13"), ("cid", "3")], ([1, 0, 2], 3, 2)),
        (True, [("ann", "123"), ("ann", "2")], ([0, 1, 0], 1, 1)),
    ],
)
def test_votes_are_counted(
    multiple: bool, choices: list[tuple[str, str]], expected: tuple[list[int], int, int]
):
    play = with_poll(multiple=multiple)
    for name, options in choices:
        play.do(VotePoll(uid(name), mid(1), tuple(options)))
    poll = shown(play)
    assert counts(poll) == expected
    assert "".join(option.id for option in poll.options if option.selected) == choices[-1][1]


def test_the_kept_record_shows_nobody_s_choice():
    play = with_poll()
    play.do(VotePoll(uid("ann"), mid(1), ("2",)))
    poll = decode(play.state.window[0].record).poll
    assert poll is not None
    assert not any(option.selected for option in poll.options)


def test_the_same_choice_again_is_no_event_and_the_same_answer():
    play = with_poll(multiple=True)
    play.do(VotePoll(uid("ann"), mid(1), ("2", "1")))
    first = play.reply
    assert play.do(VotePoll(uid("ann"), mid(1), ("1", "2"))) == ()
    assert play.reply == first


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("4",), ("/optionIds/0", "UNKNOWN")),
        (("1", "x"), ("/optionIds/1", "UNKNOWN")),
        (("1", "1"), ("/optionIds", "DUPLICATE")),
        (("1", "2"), ("/optionIds", "TOO_MANY")),
        (("1",) * 1_000, ("/optionIds", "TOO_MANY")),
    ],
)
def test_impossible_choices_are_refused(options: tuple[str, ...], error: tuple[str, str]):
    play = with_poll()
    with pytest.raises(Invalid) as caught:
        play.do(VotePoll(uid("ann"), mid(1), options))
    assert [(one.pointer, one.code) for one in caught.value.errors] == [error]


def test_who_may_not_vote():
    play = with_poll()
    play.post("ann")
    with pytest.raises(ConversationNotFound):
        play.do(VotePoll(uid("eve"), mid(1), ("1",)))
    with pytest.raises(NotFound):
        play.do(VotePoll(uid("ann"), mid(2), ("1",)))
    with pytest.raises(NotFound):
        play.do(VotePoll(uid("ann"), mid(9), ("1",)))
    play.do(DeleteMessage(uid("bob"), mid(1)))
    with pytest.raises(NotFound):
        play.do(VotePoll(uid("ann"), mid(1), ("1",)))


@pytest.mark.parametrize(("name", "allowed"), [("bob", True), ("ann", True), ("cid", False)])
def test_author_and_owner_close_by_hand(name: str, allowed: bool):
    play = with_poll()
    if not allowed:
        with pytest.raises(Forbidden):
            play.do(ClosePoll(uid(name), mid(1)))
        return
    play.later(5).do(ClosePoll(uid(name), mid(1)))
    poll = shown(play)
    assert (poll.closed, poll.close_reason) == (True, "manual")
    assert poll.closed_at is not None
    for command in (ClosePoll(uid(name), mid(1)), VotePoll(uid("ann"), mid(1), ("1",))):
        with pytest.raises(PollClosed):
            play.do(command)


@pytest.mark.parametrize(("ms", "closed"), [(-1, False), (0, True), (1, True)])
def test_the_moment_of_expiry(ms: int, closed: bool):
    play = with_poll(expires_at_ms=NOW_MS + 1_000)
    play.later(1_000 + ms)
    assert (
        b'"closed":true' in play.frames.message_for(play.state, play.state.window[0], uid("ann"))
    ) == closed
    if closed:
        with pytest.raises(PollClosed):
            play.do(VotePoll(uid("ann"), mid(1), ("1",)))
        with pytest.raises(PollClosed):
            play.do(ClosePoll(uid("bob"), mid(1)))
    else:
        play.do(VotePoll(uid("ann"), mid(1), ("1",)))


def test_the_deadline_announces_it_once():
    play = with_poll(expires_at_ms=NOW_MS + 1_000)
    before = play.frames.message_for(play.state, play.state.window[0], uid("ann"))
    assert due(play.state) == NOW_MS + 1_000
    play.later(1_500)
    early = play.frames.message_for(play.state, play.state.window[0], uid("ann"))
    events = play.do(expire(play.state, play.now_ms))
    assert [type(event) for event in events] == [PollHasClosed]
    assert due(play.state) is None
    after = play.frames.message_for(play.state, play.state.window[0], uid("ann"))
    assert before != early == after
    poll = decode(after).poll
    assert poll is not None
    assert (poll.closed, poll.close_reason, poll.closed_at) == (True, "expired", poll.expires_at)
    assert play.do(expire(play.state, play.now_ms)) == []


def test_many_deadlines_are_met_in_order_and_in_parts():
    play = Play()
    for number in range(20):
        play.post(poll=a_poll(expires_at_ms=NOW_MS + 1_000 + number))
    play.later(5_000)
    assert len(play.do(expire(play.state, play.now_ms))) == 16
    assert due(play.state) == NOW_MS + 1_016
    assert len(play.do(expire(play.state, play.now_ms))) == 4
    assert due(play.state) is None
