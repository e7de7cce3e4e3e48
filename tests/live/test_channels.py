"""Rules: which names are channels, and which things they mean."""

import pytest

from actors.chat.commands import ChatViewer, InboxViewer
from actors.errors import ConversationNotFound, NotFound
from actors.ids import UserId, Uuid
from routes.chat.channels import CONVERSATION, INBOX
from routes.live.channel import SubscribeParams
from routes.live.channels import DEFAULTS, locate

ME = UserId(Uuid("00000000-0000-4000-8000-000000000001"))
ID = "0123456789abcdef01234567"


def test_names_lead_to_their_actors() -> None:
    assert locate("inbox", ME) == (INBOX, ME)
    assert locate(f"conversation:{ID}", ME) == (CONVERSATION, ID)
    assert locate(f"conversation:{ID.upper()}", ME) == (CONVERSATION, ID)


@pytest.mark.parametrize("name", ["", "nope", "nope:1", "inbox:", f"inbox:{ID}", "conversation", "INBOX"])
def test_other_names_are_not_found(name: str) -> None:
    with pytest.raises(NotFound) as refused:
        locate(name, ME)
    assert refused.value.code == "NOT_FOUND"


@pytest.mark.parametrize("id", ["", "x", ID[:-1], ID + "0", ID[:-1] + "g", f"{ID}:{ID}"])
def test_a_malformed_conversation_id_looks_like_an_unknown_one(id: str) -> None:
    with pytest.raises(ConversationNotFound):
        locate(f"conversation:{id}", ME)


def test_defaults_are_what_is_served_of_friends_party_and_inbox() -> None:
    assert set(DEFAULTS) <= {"friends", "party", "inbox"}
    assert "inbox" in DEFAULTS


@pytest.mark.parametrize(("limit", "shown"), [(-5, 1), (0, 1), (1, 1), (120, 120), (121, 120), (10**18, 120)])
def test_a_conversations_limit_is_clamped(limit: int, shown: int) -> None:
    params = SubscribeParams(limit=limit, include_archived=False)
    assert CONVERSATION.viewer(ME, params) == ChatViewer(ME, shown, False)


def test_the_inbox_is_the_users_own() -> None:
    assert INBOX.viewer(ME, SubscribeParams()) == InboxViewer(ME)
