"""Rules: which names are channels, and which things they mean."""

from dataclasses import replace

import pytest

from actors.chat.commands import ChatViewer
from actors.errors import ConversationNotFound, NotFound
from actors.ids import UserId, Uuid
from routes.chat.channels import CONVERSATION, INBOX
from routes.domain import channels_of
from routes.domains import DOMAINS
from routes.live.channel import SubscribeParams
from routes.live.channels import Channels

ME = UserId(Uuid("00000000-0000-4000-8000-000000000001"))
ID = "0123456789abcdef01234567"
CHANNELS = channels_of(DOMAINS)


def test_names_lead_to_their_actors() -> None:
    assert CHANNELS.locate("inbox", ME) == (INBOX, ME)
    assert CHANNELS.locate(f"conversation:{ID}", ME) == (CONVERSATION, ID)
    assert CHANNELS.locate(f"conversation:{ID.upper()}", ME) == (CONVERSATION, ID)


@pytest.mark.parametrize("name", ["", "nope", "nope:1", "inbox:", f"inbox:{ID}", "conversation", "INBOX"])
def test_other_names_are_not_found(name: str) -> None:
    with pytest.raises(NotFound) as refused:
        CHANNELS.locate(name, ME)
    assert refused.value.code == "NOT_FOUND"


@pytest.mark.parametrize("id", ["", "x", ID[:-1], ID + "0", ID[:-1] + "g", f"{ID}:{ID}"])
def test_a_malformed_conversation_id_looks_like_an_unknown_one(id: str) -> None:
    with pytest.raises(ConversationNotFound):
        CHANNELS.locate(f"conversation:{id}", ME)


def test_defaults_are_friends_party_and_inbox() -> None:
    assert CHANNELS.defaults == ("friends", "party", "inbox")


def test_no_two_channels_have_a_name() -> None:
    with pytest.raises(ValueError, match="inbox"):
        Channels((INBOX, CONVERSATION, replace(CONVERSATION, name="inbox")))


@pytest.mark.parametrize(("limit", "shown"), [(-5, 1), (0, 1), (1, 1), (120, 120), (121, 120), (10**18, 120)])
def test_a_conversations_limit_is_clamped(limit: int, shown: int) -> None:
    params = SubscribeParams(limit=limit, include_archived=False)
    assert CONVERSATION.viewer(ME, params) == ChatViewer(ME, shown, False)


def test_the_inbox_is_the_users_own() -> None:
    assert INBOX.viewer(ME, SubscribeParams()) == ME
