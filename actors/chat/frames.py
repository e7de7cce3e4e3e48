"""The bytes that viewers get: pages, snapshots and conversations, joined from what was encoded before.

A message is encoded when it changes. A conversation's head is encoded in parts when it has changed, and joined when the
presence that its viewers see has; only the four own fields of a viewer are written anew.
What differs per viewer in a message is their choice in a poll, so that only those messages are encoded for
them (architecture, Fan-out).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar
from weakref import ReferenceType

from actors.chat import records
from actors.chat.commands import ChatViewer
from actors.chat.heads import Head, encode_head, with_presence
from actors.chat.paging import before, newest
from actors.chat.rules_messages import member_of
from actors.chat.sight import STRANGER, Relationships, Sight, Strangers, compact, known_among, sight_of
from actors.chat.state import (
    Facts,
    MemberCounts,
    State,
    facts,
    standing,
)
from actors.chat.window import WINDOW_LINES, Line

HEADS_KEPT = 4_096
"""Encoded heads in memory, and what they were encoded from: about 1 KB each. States are held weakly, so that those of
conversations that were put away leave memory."""

NEWEST_KEPT, NEWEST_BYTES = 64, 64 * 1024
"""Newest pages in memory, each up to 64 KiB: whoever opens a busy conversation asks for the same one."""

SHARED = b',"unreadCount":null,"mentionCount":null,"lastReadAtMs":null,"muted":null}'
"""A viewer's own fields in frames whose bytes go to every viewer: null (contract §4)."""

OWN_SHOWN_MEMBERS = 32
"""In larger conversations live snapshots show viewers to themselves as to everybody else: online once they have
written. Else each of a thousand who only read would have bytes of their own."""

OnlineAmong: TypeAlias = Callable[[Iterable[str]], Sequence[str]]
"""Returns those of the given users who are online now, in their order; called for each frame, with all participants."""

Value = TypeVar("Value")


class Audience(NamedTuple):
    """Viewers of one conversation who get the same bytes.

    Args:
        limit: how many messages a snapshot has, 1 to 120.
        include_archived: whether archived messages are merged in.
        choices: (message id, option ids) of their votes in polls of the window.
        sight: whom they see online or offline otherwise than everybody does (contract §5).
        follows_rows: whether they are told of changes to older messages (`ChatViewer`).
    """

    limit: int
    include_archived: bool
    choices: tuple[tuple[str, tuple[str, ...]], ...]
    sight: Sight = STRANGER
    follows_rows: bool = False


class Newest(NamedTuple):
    """The messages of the newest page of a conversation without polls: the same for all who read it.

    Args:
        state: the state that the page was made of, held weakly.
        asked: how many messages were asked for, and whether archived ones are merged in.
        rest: the messages, joined; the page's `nextBeforeMs`; and whether there are more messages.
    """

    state: ReferenceType[State]
    asked: tuple[int, bool]
    rest: tuple[bytes, int, bool]


class Frames:
    """Makes the bytes, and keeps the heads that it has encoded.

    Args:
        online_among: returns those of the given users who are online now, in the given order.
        now_ms: returns epoch milliseconds, so that a poll past its expiry is shown closed before the conversation has
            closed it.
        relationships: knows who are friends, who hides and who blocks; without it all users are strangers.
    """

    def __init__(
        self,
        online_among: OnlineAmong,
        now_ms: Callable[[], int],
        relationships: Relationships | None = None,
    ) -> None:
        self._online_among = online_among
        self._now_ms = now_ms
        self._company = relationships or Strangers()
        self._viewer_id: str | None = None
        self._sight = STRANGER
        self._facts: dict[str, tuple[ReferenceType[State], Facts]] = {}
        self._heads: dict[str, Head] = {}
        self._newest: dict[str, Newest] = {}

    def seen_by(self, viewer_id: str) -> "Frames":
        """The frames for one viewer, of any conversation."""
        own = self._sharing()
        own._viewer_id = viewer_id
        return own

    def seen_with(self, sight: Sight) -> "Frames":
        """The frames for one audience of a conversation: this object where the audience sees what everybody sees."""
        if sight is STRANGER or sight == STRANGER:
            return self
        own = self._sharing()
        own._sight = sight
        return own

    def _sharing(self) -> "Frames":
        """New frames that share what these have encoded."""
        own = Frames(self._online_among, self._now_ms, self._company)
        own._viewer_id, own._sight = self._viewer_id, self._sight
        own._facts, own._heads, own._newest = self._facts, self._heads, self._newest
        return own

    def sight(self, viewer_id: str, shown: Facts) -> Sight:
        """What live snapshots of a conversation show this viewer differently from everybody else."""
        known, hidden = sight_of(self._company, viewer_id, [id for id, _ in shown.participants], shown.silent)
        if shown.participant_count > OWN_SHOWN_MEMBERS and viewer_id in known:
            known = compact(id for id in known if id != viewer_id)
        if hidden:
            # Who looks offline anyhow is not named: a block between two who do not show to each other changes nothing,
            # and a frame equal to the one before it would tell of it.
            known, hidden = compact(id for id in known if id not in hidden), hidden.difference(shown.silent)
        return Sight(known, hidden) if known or hidden else STRANGER

    def online(self, speaking: Collection[str], silent: Collection[str]) -> tuple[str, ...]:
        """Who of the participants of one conversation shows as online: in the order of `speaking`, then others.

        Args:
            speaking: ids of participants who have made the conversation or written in it.
            silent: ids of the other participants.
        """
        viewer_id, relationships = self._viewer_id, self._company
        known, hidden = self._sight
        if viewer_id is not None:
            known = known_among(relationships, viewer_id, silent)
            hidden = relationships.hidden_among(viewer_id, (*speaking, *known))
        online = self._online_among((*speaking, *known) if known else speaking)
        return tuple([id for id in online if id not in hidden] if hidden else online)

    def facts(self, state: State) -> Facts:
        """The data of a live conversation's head: the same object as long as the state is the same."""
        known = self._facts.get(state.id)
        if known is not None and known[0]() is state:
            return known[1]
        made = facts(state)
        _keep(self._facts, state.id, (ReferenceType(state), made))
        return made

    def head(self, shown: Facts) -> bytes:
        """A conversation up to the viewer's own fields: JSON that lacks them and its closing brace."""
        known = self._heads.get(shown.id)
        if known is None or not (known.facts is shown or known.facts == shown):
            encoded = encode_head(shown)
            speaking = tuple(id for id, _ in shown.participants if id not in shown.silent)
            online = self.online(speaking, shown.silent)
        else:
            _, speaking, was_online, encoded = known
            online = self.online(speaking, shown.silent)
            if online == was_online:
                return encoded
        shows = compact(online)
        encoded = with_presence(encoded, [id in shows for id, _ in shown.participants])
        _keep(self._heads, shown.id, Head(shown, speaking, online, encoded))
        return encoded

    def conversation(self, shown: Facts, own: MemberCounts | None) -> bytes:
        """A whole Conversation; without a viewer, their fields are null."""
        return self.head(shown) + (SHARED if own is None else own_fields(own))

    def conversation_for(self, state: State, user_id: str) -> bytes:
        """The Conversation of a live state for one member.

        Raises:
            ConversationNotFound: the user is not in it.
        """
        return self.conversation(self.facts(state), standing(state, member_of(state, user_id)))

    def message_for(self, state: State, line: Line, user_id: str) -> bytes:
        """A Message as one member sees it."""
        if not line.has_poll:
            return line.record
        chosen = state.votes.get(line.id, {}).get(user_id) or state.looked_up.choices.get(line.id, ())
        return self._record(line, chosen)

    def message_chosen(self, line: Line, choice: Sequence[str]) -> bytes:
        """A Message with a poll, in which the options in `choice` are shown as the viewer's."""
        return self._record(line, choice)

    def snapshot(self, state: State, audience: Audience) -> bytes:
        """The live message snapshot for one audience."""
        lines, older = newest(state, audience.limit, include_archived=audience.include_archived)
        head = self.conversation(self.facts(state), None)
        return self.page(head, lines, dict(audience.choices), has_more=older)

    def page_for(
        self, state: State, user_id: str, *, before_ms: int | None, limit: int, include_archived: bool
    ) -> bytes | None:
        """The MessagePage of a live state for one member, or None when rows are needed for it.

        Args:
            before_ms: the page ends before this moment, epoch milliseconds; None for the newest messages.
            limit: how many messages at most, 1 to 120.
            include_archived: whether archived messages are merged in.

        Raises:
            ConversationNotFound: the user is not in it.
        """
        member = member_of(state, user_id)
        asked = (limit, include_archived)
        known = self._newest.get(state.id) if before_ms is None else None
        if known is not None and known.state() is state and known.asked == asked:
            return _page(self.conversation(self.facts(state), standing(state, member)), *known.rest)
        if before_ms is None:
            lines, older = newest(state, limit, include_archived=include_archived)
            if older and len(lines) < limit:
                return None
        else:
            found = before(state, before_ms, limit, include_archived=include_archived)
            if found is None:
                return None
            lines, older = found
        head = self.conversation(self.facts(state), standing(state, member))
        if before_ms is not None or any(line.has_poll for line in lines):
            return self.page(head, lines, dict(_choices(state, user_id)), has_more=older)
        rest = (b",".join([line.record for line in lines]), _next_before_ms(lines, has_more=older), older)
        if len(rest[0]) <= NEWEST_BYTES:
            _keep(self._newest, state.id, Newest(ReferenceType(state), asked, rest), NEWEST_KEPT)
        return _page(head, *rest)

    def page(
        self,
        conversation: bytes,
        lines: Sequence[Line],
        choices: Mapping[str, Sequence[str]],
        *,
        has_more: bool,
    ) -> bytes:
        """A MessagePage as one viewer sees it now: a join of what is encoded already.

        Args:
            conversation: the Conversation, encoded for this viewer.
            lines: oldest first, live or archived, from memory or rows.
            choices: {message id: the viewer's option ids} of polls among them.
            has_more: whether there are older messages.
        """
        records = [
            self._record(line, choices.get(line.id, ())) if line.has_poll else line.record for line in lines
        ]
        return _page(conversation, b",".join(records), _next_before_ms(lines, has_more=has_more), has_more)

    def _record(self, line: Line, choice: Sequence[str]) -> bytes:
        if not line.has_poll:
            return line.record
        return records.shown(
            line.record, poll_expires_at_ms=line.poll_expires_at_ms, choice=choice, now_ms=self._now_ms()
        )


def _page(conversation: bytes, items: bytes, next_before_ms: int, has_more: bool) -> bytes:
    return b'{"conversation":%b,"items":[%b],"nextBeforeMs":%d,"hasMore":%b}' % (
        conversation,
        items,
        next_before_ms,
        b"true" if has_more else b"false",
    )


def _next_before_ms(lines: Sequence[Line], *, has_more: bool) -> int:
    return lines[0].created_at_ms if has_more and lines else 0


def audience(state: State, viewer: ChatViewer, sight: Sight = STRANGER) -> Audience:
    """The audience whose bytes a viewer gets.

    Args:
        sight: whom the viewer sees online or offline otherwise than everybody does.

    Raises:
        ConversationNotFound: the viewer is not in the conversation, or no longer.
    """
    member_of(state, viewer.user_id)
    choices = tuple(_choices(state, viewer.user_id))
    limit = min(max(viewer.limit, 1), WINDOW_LINES)
    return Audience(limit, viewer.include_archived, choices, sight, viewer.follows_rows)


def _choices(state: State, user_id: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(message id, option ids) of a member's votes in polls of the window."""
    return ((id, poll[user_id]) for id, poll in state.votes.items() if user_id in poll)


def own_fields(own: MemberCounts) -> bytes:
    """The JSON that ends a Conversation: the viewer's own fields and the closing brace."""
    return b',"unreadCount":%d,"mentionCount":%d,"lastReadAtMs":%b,"muted":%b}' % (
        own.unread,
        own.mentions,
        b"null" if own.last_read_at_ms is None else b"%d" % own.last_read_at_ms,
        b"true" if own.muted else b"false",
    )


def _keep(kept: dict[str, Value], id: str, value: Value, most: int = HEADS_KEPT) -> None:
    kept.pop(id, None)
    kept[id] = value
    if len(kept) > most:
        del kept[next(iter(kept))]
