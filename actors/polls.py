"""Polls, of messages and of articles: what one consists of, who may choose what, and how votes count (contract §4).

All pure. Who may vote, and where a poll is kept, is the business of those who have one.
"""

from collections.abc import Collection, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from actors.bounds import MAX_NAMED, Bigint, IdText, ShortText, ruled
from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.texts import line_flaws, lines_flaws, with_line_feeds
from actors.time import iso

MAX_LABEL_CHARACTERS = 100
"""Most characters of an option (contract §4)."""

MAX_QUESTION_CHARACTERS = 300
"""Most characters of a poll's question (contract §4)."""

MIN_OPTIONS, MAX_OPTIONS = 2, 10
"""Fewest and most options of a poll (contract §4)."""

MAX_EXPIRY_MS = 32 * 24 * 3600 * 1000
"""How far ahead a poll's expiry may lie (contract §4)."""

CloseReason: TypeAlias = Literal["expired", "manual"]

OptionIds = Annotated[
    tuple[IdText, ...], msgspec.Meta(max_length=MAX_NAMED), ruled(maxItems=MAX_OPTIONS, uniqueItems=True)
]
"""The ids of options as a voter sends them."""


class PollOption(msgspec.Struct, frozen=True, rename="camel"):
    """One answer of a poll; `selected` is the viewer's own choice, absent where an event does not tell it: in
    `poll_updated` (contract §9), and in `message_edited` of an older poll.

    Args:
        label: what it says.
        votes: how many have chosen it.
        selected: whether the viewer has chosen it.
    """

    id: str
    label: str
    votes: int
    selected: bool | msgspec.UnsetType = msgspec.UNSET


class Poll(msgspec.Struct, frozen=True, rename="camel"):
    """A question, with its answers and their votes.

    Args:
        multiple: whether one voter may choose several options.
        closed: whether it was closed by hand, or its expiry has come.
        total_votes: how many options all voters together have chosen.
        total_voters: how many users have chosen an option.
        options: what can be chosen, in order.
        expires_at: when it closes by itself; null for never.
        expires_at_ms: the same, in epoch milliseconds.
        closed_at: when it was closed; null while it is open.
        close_reason: whether its time was over or somebody closed it; null while it is open.
    """

    question: str
    multiple: bool
    closed: bool
    total_votes: int
    total_voters: int
    options: tuple[PollOption, ...]
    expires_at: str | None
    expires_at_ms: int | None
    closed_at: str | None
    close_reason: CloseReason | None


class PollOptionDraft(msgspec.Struct, frozen=True, rename="camel"):
    """An answer of a new poll.

    Args:
        label: what it says.
    """

    label: Annotated[ShortText, ruled(minLength=1, maxLength=MAX_LABEL_CHARACTERS)]


class PollDraft(msgspec.Struct, frozen=True, rename="camel"):
    """A new poll; its options get the ids "1", "2" and so on, in order.

    Args:
        options: what can be chosen, in order.
        multiple: whether several options may be chosen.
        expires_at_ms: when it closes by itself, epoch milliseconds; null for never.
    """

    question: Annotated[ShortText, ruled(minLength=1, maxLength=MAX_QUESTION_CHARACTERS)]
    options: Annotated[
        tuple[PollOptionDraft, ...],
        msgspec.Meta(max_length=MAX_NAMED),
        ruled(minItems=MIN_OPTIONS, maxItems=MAX_OPTIONS),
    ]
    multiple: bool = False
    expires_at_ms: Bigint | None = None


def check_poll(draft: PollDraft, now_ms: int, errors: list[FieldError]) -> Poll | None:
    """Check a draft and make its poll, without votes; None when the draft breaks a rule.

    Args:
        draft: the poll as the client sent it, at `/poll` of the body.
        now_ms: the moment after which it has to expire, epoch milliseconds.
        errors: a list to which the errors of the draft are added.
    """
    before = len(errors)
    question = with_line_feeds(draft.question).strip()
    errors += lines_flaws(question, "/poll/question", MAX_QUESTION_CHARACTERS, required=True)
    labels = [option.label.strip() for option in draft.options]
    if not MIN_OPTIONS <= len(labels) <= MAX_OPTIONS:
        code = "TOO_FEW" if len(labels) < MIN_OPTIONS else "TOO_MANY"
        errors.append(FieldError("/poll/options", code, f"{MIN_OPTIONS} to {MAX_OPTIONS} options"))
    else:
        errors.extend(_check_labels(labels))
    if draft.expires_at_ms is not None:
        errors.extend(_check_expiry(draft.expires_at_ms, now_ms))
    if len(errors) > before:
        return None
    return new_poll(
        question=question, labels=labels, multiple=draft.multiple, expires_at_ms=draft.expires_at_ms
    )


def new_poll(*, question: str, labels: Sequence[str], multiple: bool, expires_at_ms: int | None) -> Poll:
    """Make a poll without votes; its options get the ids "1", "2" and so on.

    Args:
        question: the question.
        labels: the labels of the options, in order.
        multiple: whether a voter may choose several options.
        expires_at_ms: when it expires, epoch milliseconds; None for never.
    """
    return Poll(
        question=question,
        multiple=multiple,
        closed=False,
        total_votes=0,
        total_voters=0,
        options=tuple(
            PollOption(id=str(number), label=label, votes=0, selected=False)
            for number, label in enumerate(labels, 1)
        ),
        expires_at=None if expires_at_ms is None else iso(expires_at_ms),
        expires_at_ms=expires_at_ms,
        closed_at=None,
        close_reason=None,
    )


def valid_choice(poll: Poll, option_ids: Sequence[str]) -> tuple[str, ...]:
    """A voter's whole choice, in the order of the options; empty withdraws it.

    Args:
        option_ids: ids of the options as the client sent them, at `/optionIds` of the body.

    Raises:
        Invalid: an option is unknown or named twice, or there are more than the poll takes.
    """
    known = {option.id for option in poll.options}
    errors = []
    if len(option_ids) > len(poll.options):
        errors.append(FieldError("/optionIds", "TOO_MANY", "more than the poll has options"))
    elif unknown := [place for place, id in enumerate(option_ids) if id not in known]:
        errors.extend(FieldError(f"/optionIds/{place}", "UNKNOWN", "no such option") for place in unknown)
    elif len(set(option_ids)) != len(option_ids):
        errors.append(FieldError("/optionIds", "DUPLICATE", "an option is named twice"))
    elif len(option_ids) > 1 and not poll.multiple:
        errors.append(FieldError("/optionIds", "TOO_MANY", "this poll takes one option"))
    if errors:
        raise Invalid(*errors)
    return tuple(option.id for option in poll.options if option.id in option_ids)


def with_vote(poll: Poll, previous: Collection[str], chosen: Collection[str]) -> Poll:
    """The poll with one voter's choice replaced in its counts.

    Args:
        previous: ids of the options that the voter had chosen; empty without a vote.
        chosen: ids of the options that they choose now; empty to withdraw the vote.
    """
    options = tuple(
        replace(option, votes=option.votes - (option.id in previous) + (option.id in chosen))
        for option in poll.options
    )
    return replace(
        poll,
        options=options,
        total_votes=sum(option.votes for option in options),
        total_voters=poll.total_voters - bool(previous) + bool(chosen),
    )


def closed(poll: Poll, *, at_ms: int, reason: CloseReason) -> Poll:
    """The poll, closed since a moment (epoch milliseconds)."""
    return replace(poll, closed=True, closed_at=iso(at_ms), close_reason=reason)


def at(poll: Poll, now_ms: int) -> Poll:
    """The poll at a moment (epoch milliseconds): closed once its expiry has come."""
    if poll.closed or poll.expires_at_ms is None or poll.expires_at_ms > now_ms:
        return poll
    return closed(poll, at_ms=poll.expires_at_ms, reason="expired")


def with_choice(poll: Poll, choice: Collection[str]) -> Poll:
    """The poll as one viewer sees it, with the ids of the options that they have chosen."""
    return replace(
        poll, options=tuple(replace(option, selected=option.id in choice) for option in poll.options)
    )


def without_choice(poll: Poll) -> Poll:
    """The poll for viewers whose choice is not known."""
    return replace(poll, options=tuple(replace(option, selected=msgspec.UNSET) for option in poll.options))


def _check_labels(labels: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for place, label in enumerate(labels):
        pointer = f"/poll/options/{place}/label"
        flaws = line_flaws(label, pointer, MAX_LABEL_CHARACTERS)
        if flaws:
            errors += flaws
        elif label in seen:
            errors.append(FieldError(pointer, "DUPLICATE", "labels must differ within a poll"))
        seen.add(label)
    return errors


def _check_expiry(expires_at_ms: int, now_ms: int) -> list[FieldError]:
    if expires_at_ms <= now_ms:
        return [FieldError("/poll/expiresAtMs", "PAST", "the expiry must lie in the future")]
    if expires_at_ms > now_ms + MAX_EXPIRY_MS:
        return [FieldError("/poll/expiresAtMs", "TOO_FAR", "a poll may run for 32 days at most")]
    return []
