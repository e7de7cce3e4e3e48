"""Structs that answers and frames can be decoded into (`into=`, `as_`): the same from which the service makes them.

They take what is in them and pass over fields that a newer service adds.
"""

from actors.chat.public import (
    Attachment,
    Conversation,
    ConversationList,
    InboxSnapshot,
    Mention,
    Message,
    MessagePage,
    Participant,
    ReadMarker,
    TypingNotice,
)
from actors.friends.public import (
    FriendEntry,
    FriendsOverview,
    FriendsSnapshot,
    Player,
    RequestEntry,
    Requests,
)
from actors.news.public import Article
from actors.party.public import Party, PartyInvite, PartyMember, PartyMembership, PartySnapshot
from actors.polls import Poll
from actors.shop.public import CheckoutEntry, ProductEntry, PurchaseEntry
from actors.voice.public import VoiceChannel, VoiceSession

__all__ = [
    "Article",
    "Attachment",
    "CheckoutEntry",
    "Conversation",
    "ConversationList",
    "FriendEntry",
    "FriendsOverview",
    "FriendsSnapshot",
    "InboxSnapshot",
    "Mention",
    "Message",
    "MessagePage",
    "Participant",
    "Party",
    "PartyInvite",
    "PartyMember",
    "PartyMembership",
    "PartySnapshot",
    "Player",
    "Poll",
    "ProductEntry",
    "PurchaseEntry",
    "ReadMarker",
    "RequestEntry",
    "Requests",
    "TypingNotice",
    "VoiceChannel",
    "VoiceSession",
]
