"""Voting, closing by hand, and closing at the deadline (contract §4).

    open ──VotePoll──▶ open      open ──ClosePoll──▶ closed (manual)      open ──now ≥ expiresAt──▶ closed
    (expired)

A poll is closed the moment it expires, whether its deadline was announced yet or not.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from actors.chat import records
from actors.chat.commands import ClosePoll, MeetDeadlines, VotePoll
from actors.chat.events import AnyEvent, PollVoted, ReadTold
from actors.chat.events import PollClosed as PollHasClosed
from actors.chat.public import Message
from actors.chat.rules_messages import check_not_blocked, live_line, member_of
from actors.chat.sight import Relationships
from actors.chat.state import State, find_line
from actors.chat.window import Line
from actors.errors import Conflict, Forbidden, NotFound, PollClosed
from actors.polls import Poll, valid_choice

MOST_AT_ONCE = 16
"""Polls closed in one turn; those that expire at the same moment follow in the next."""


def vote(state: State, command: VotePoll, now_ms: int, relationships: Relationships) -> Sequence[AnyEvent]:
    """Decide on a voter's choice, which replaces the earlier one. No events if it is the same."""
    member_of(state, command.user_id)
    line = live_line(state, command.message_id)
    check_not_blocked(state, relationships)
    message, poll = _poll(line)
    chosen = valid_choice(poll, command.option_ids)
    _check_open(line, now_ms)
    previous = choice_of(state, line.id, command.user_id)
    if set(chosen) == set(previous):
        return ()
    changed = records.voted(message, previous, chosen)
    return (
        PollVoted(
            line=replace(line, record=records.encode(changed)),
            at_ms=now_ms,
            voter_id=command.user_id,
            option_ids=chosen,
        ),
    )


def choice_of(state: State, message_id: str, user_id: str) -> tuple[str, ...]:
    """The ids of the options that a user has chosen in a poll of the window, or in one that was looked up for them."""
    votes = state.votes.get(message_id)
    if votes is not None:
        return votes.get(user_id, ())
    return state.looked_up.choices.get(message_id, ())


def close(state: State, command: ClosePoll, now_ms: int, relationships: Relationships) -> Sequence[AnyEvent]:
    """Close a poll before its end.

    Raises:
        ConversationNotFound: the user is not in the conversation.
        NotFound: there is no such poll.
        Forbidden: the user is neither its author nor the owner of the group.
        Blocked: a block stands between the two of a direct conversation.
        PollClosed: it is closed already.
    """
    member_of(state, command.user_id)
    line = live_line(state, command.message_id)
    message, _ = _poll(line)
    if command.user_id not in (line.sender_id, state.owner_id):
        raise Forbidden("only the poll's author or the group's owner may close it")
    check_not_blocked(state, relationships)
    _check_open(line, now_ms)
    return (_closed(line, message, now_ms, "manual"),)


def meet_deadlines(state: State, command: MeetDeadlines, now_ms: int) -> Sequence[AnyEvent]:
    """Close polls that have expired, and send read notices that were held back to keep a second's distance."""
    events: list[AnyEvent] = []
    for message_id in command.message_ids:
        line = find_line(state, message_id)
        expires_at_ms = state.deadlines.get(message_id)
        # A vote, a deletion or a closing by hand may have come first.
        if line is None or expires_at_ms is None or expires_at_ms > now_ms:
            continue
        events.append(_closed(line, records.decode(line.record), expires_at_ms, "expired"))
    for due_ms, notice in state.read_notices_due.values():
        if due_ms <= now_ms:
            events.append(ReadTold(notice, now_ms))
    return events


def due(state: State) -> int | None:
    """When the next poll expires or the next read notice is to be sent, epoch milliseconds; None for neither."""
    if not (state.deadlines or state.read_notices_due):
        return None
    return min([*state.deadlines.values(), *(due_ms for due_ms, _ in state.read_notices_due.values())])


def expire(state: State, now_ms: int) -> MeetDeadlines:
    """The command for the deadlines that have come, the earliest first, at most `MOST_AT_ONCE` polls at once."""
    ripe = sorted((due_ms, id) for id, due_ms in state.deadlines.items() if due_ms <= now_ms)
    return MeetDeadlines(tuple(id for _, id in ripe[:MOST_AT_ONCE]))


def _poll(line: Line) -> tuple[Message, Poll]:
    message = records.decode(line.record)
    if message.poll is None:
        raise NotFound("the message has no poll")
    return message, message.poll


def _check_open(line: Line, now_ms: int) -> None:
    expired = line.poll_expires_at_ms is not None and line.poll_expires_at_ms <= now_ms
    if expired or not line.poll_open:
        raise PollClosed


def _closed(line: Line, message: Message, at_ms: int, reason: Literal["expired", "manual"]) -> PollHasClosed:
    if message.poll is None:
        raise Conflict("the poll is gone")
    changed = records.closed(message, at_ms=at_ms, reason=reason)
    shut = replace(line, record=records.encode(changed), poll_open=False, poll_expires_at_ms=None)
    return PollHasClosed(shut, at_ms)
