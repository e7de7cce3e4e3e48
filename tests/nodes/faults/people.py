"""The people of one round, with tokens, and their conversations."""

import secrets
import time
from dataclasses import dataclass, field

import httpx2

from actors.ids import new_uuid
from routes.edge.identity.keys import Keys
from tests.nodes.faults.sequence import Heard, Posted, Read, Stored

CONVERSATIONS = 12
"""Enough that each of three nodes nearly always owns some."""

PAGE = 100


@dataclass(frozen=True)
class Person:
    """Somebody with a token."""

    id: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """Of their requests."""
        return {"authorization": f"Bearer {self.token}"}


@dataclass
class Conversation:
    """A group, and all that is known of it.

    Args:
        id: of the group.
        asking, sending: who write in it, with requests and over a socket.
        posted: by client id.
        reads: of anybody.
        heard: by the node at which somebody watched.
    """

    id: str
    asking: Person
    sending: Person
    posted: dict[str, Posted] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)
    heard: dict[str, Heard] = field(default_factory=dict)

    @property
    def messages(self) -> str:
        """Where they are."""
        return f"/v1/social/chat/conversations/{self.id}/messages"

    @property
    def channel(self) -> str:
        """On live sockets."""
        return f"conversation:{self.id}"


class People:
    """Ann, who is in all conversations and only looks, and two writers for each of them."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self.ann = self._somebody()
        self._asking = [self._somebody() for _ in range(CONVERSATIONS)]
        self._sending = [self._somebody() for _ in range(CONVERSATIONS)]

    def _somebody(self) -> Person:
        id = new_uuid(secrets.token_bytes)
        minted = self._keys.mint_user_token(
            id,
            "Ann",
            now_ms=time.time_ns() // 1_000_000,
            ttl_seconds=86_400,
            random_bytes=secrets.token_bytes,
        )
        return Person(id, minted.token)

    async def come(self, http: httpx2.AsyncClient, url: str) -> None:
        """Be known to the service."""
        for person in (self.ann, *self._asking, *self._sending):
            answer = await http.get(f"{url}/v1/auth/verify", headers=person.headers)
            assert answer.status_code == 200, answer.text

    async def found(self, http: httpx2.AsyncClient, url: str) -> list[Conversation]:
        """Make the conversations of a round."""
        made = []
        for asking, sending in zip(self._asking, self._sending, strict=True):
            answer = await http.post(
                f"{url}/v1/social/chat/conversations",
                json={"kind": "group", "participantIds": [asking.id, sending.id]},
                headers=self.ann.headers,
            )
            assert answer.status_code == 201, answer.text
            made.append(Conversation(answer.json()["id"], asking, sending))
        return made


async def stored(
    http: httpx2.AsyncClient, url: str, conversation: Conversation, reader: Person
) -> list[Stored]:
    """All messages, oldest first, page by page."""
    found: list[Stored] = []
    before: dict[str, int] = {}
    while True:
        answer = await http.get(
            url + conversation.messages, params={"limit": PAGE, **before}, headers=reader.headers
        )
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found = [Stored(one["id"], one["clientMessageId"]) for one in page["items"]] + found
        if not page["hasMore"]:
            return found
        before = {"beforeMs": page["nextBeforeMs"]}
