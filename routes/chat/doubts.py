"""Brings inboxes up to date after a conversation's turn with an unknown outcome, since no event has told them of it.

Viewers of the conversation itself get a snapshot when it is loaded again. An inbox would go on showing the state from
before the turn until the conversation changes again.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from actors.chat.commands import MeetDeadlines
from actors.chat.kind import ChatKinds
from actors.chat.state import State
from actors.errors import NotFound
from actors.kernel.directory import System
from routes.changes import Reconciliation
from routes.chat.parts import CHAT_KINDS
from routes.reconciler import Reconciler
from routes.service import Service


class ConversationInDoubt(NamedTuple):
    """Reconciliation subject: the inboxes that show one conversation."""

    conversation_id: str


class ShownTo(NamedTuple):
    """The members before the turn, which may have removed some of them."""

    user_ids: tuple[str, ...]


def follow_unknown_outcomes(service: Service) -> None:
    """Subscribe: queue a conversation for reconciliation after one of its turns ended with an unknown outcome."""
    follow_doubts(service.system, service.of(CHAT_KINDS), service.reconciler)


def follow_doubts(system: System, kinds: ChatKinds, reconciler: Reconciler) -> None:
    """Do what `follow_unknown_outcomes` does, for callers without a `Service`.

    Args:
        system: the actor system, in which the conversations live.
        kinds: chat's kinds of actors.
        reconciler: the queue of subjects, which calls `show_again`.
    """

    def doubt(conversation_id: str) -> None:
        known = system.peek(kinds.conversation, conversation_id)
        members = () if known is None else tuple(known.members)
        reconciler.add(ConversationInDoubt(conversation_id), (ShownTo(members),))

    kinds.in_doubt.append(doubt)


async def show_again(
    system: System, kinds: ChatKinds, about: ConversationInDoubt, events: Sequence[Any]
) -> None:
    """Have the inboxes of all members, and of those who were members, show the conversation as it is.

    Args:
        system: the actor system, in which the conversations live.
        kinds: chat's kinds of actors.
        about: the conversation.
        events: a `ShownTo` for each turn in doubt.

    Raises: Refused, or a PersistenceError, where the conversation cannot be asked; then nothing is shown. One that is
        gone raises nothing. Cancellation shows nothing.
    """
    conversation_id = about.conversation_id
    try:
        # Loads it again, unless it has been already, and waits until the database has answered.
        await system.ask(kinds.conversation, conversation_id, MeetDeadlines())
    except NotFound:
        known: State | None = None
    else:
        known = system.peek(kinds.conversation, conversation_id)
    before = [user_id for event in events for user_id in event.user_ids]
    shown_to = dict.fromkeys((*before, *(() if known is None else known.members)))
    if shown_to:
        # Only the node that owns the conversation knows its members, so all nodes' inboxes are told.
        system.touched_everywhere(kinds.inbox.name, tuple(shown_to), conversation_id)


async def _ask(service: Service, about: ConversationInDoubt, events: Sequence[object]) -> tuple[object, ...]:
    await show_again(service.system, service.of(CHAT_KINDS), about, events)
    return ()


RECONCILIATIONS = (Reconciliation(ConversationInDoubt, _ask),)
