"""A client of LiveKit's RoomService, by Twirp with JSON: for a handful of fields protocol buffers are not needed."""

import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import httpx2
import jwt

TOKEN_SECONDS = 60
"""How long the token of one request is valid."""

MICROPHONE = "MICROPHONE"


class RoomService:
    """The rooms of a LiveKit server.

    Args:
        http: a client whose base address is the server's.
        key, secret: an API key of the server.
    """

    def __init__(self, http: httpx2.AsyncClient, key: str, secret: str) -> None:
        self._http = http
        self._key = key
        self._secret = secret

    async def rooms(self) -> list[str]:
        """The names of all rooms."""
        answer = await self._ask("ListRooms", {"roomList": True}, {})
        return [room["name"] for room in answer.get("rooms", [])]

    async def participants(self, room: str) -> list["Participant"]:
        """The participants of a room; empty where there is no such room."""
        answer = await self._ask("ListParticipants", _admin(room), {"room": room})
        return [Participant(one) for one in answer.get("participants", [])]

    async def participant(self, room: str, identity: str) -> "Participant | None":
        """A participant of a room; None where they are not there."""
        answer = await self._ask("GetParticipant", _admin(room), {"room": room, "identity": identity})
        return Participant(answer) if answer else None

    async def remove(self, room: str, identity: str, not_before_s: int) -> None:
        """Disconnect a participant. A server that can do so (LiveKit Cloud) refuses their older tokens, too.

        Args:
            not_before_s: epoch seconds: tokens whose `nbf` is older are void.
        """
        body = {"room": room, "identity": identity, "revoke_token_ts": str(not_before_s)}
        await self._ask("RemoveParticipant", _admin(room), body)

    async def let_publish(self, room: str, identity: str, *, may: bool) -> None:
        """Give a participant the right to publish, or take it away, which ends what they publish."""
        permission: dict[str, object] = {
            "can_subscribe": True,
            "can_publish": may,
            "can_publish_data": False,
            "can_publish_sources": [MICROPHONE] if may else [],
        }
        body = {"room": room, "identity": identity, "permission": permission}
        await self._ask("UpdateParticipant", _admin(room), body)

    async def delete(self, room: str) -> None:
        """Disconnect everybody in a room."""
        await self._ask("DeleteRoom", {"roomCreate": True}, {"room": room})

    async def _ask(self, method: str, grants: Mapping[str, object], body: object) -> dict[str, Any]:
        """Make a request; returns the answer, which is empty where there is no such room or participant.

        Raises:
            httpx2.HTTPError: the server does not answer, or refuses.
        """
        now_s = int(time.time())
        claims = {"iss": self._key, "nbf": now_s, "exp": now_s + TOKEN_SECONDS, "video": grants}
        token = jwt.encode(claims, self._secret, algorithm="HS256")
        answer = await self._http.post(
            f"/twirp/livekit.RoomService/{method}", json=body, headers={"authorization": f"Bearer {token}"}
        )
        if answer.status_code == HTTPStatus.NOT_FOUND and _read(answer).get("code") == "not_found":
            return {}
        answer.raise_for_status()
        return _read(answer)


def _read(answer: httpx2.Response) -> dict[str, Any]:
    """The object in an answer; empty where the body is none, as a proxy before the server may have answered."""
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise httpx2.DecodingError(f"LiveKit has answered {answer.status_code} without JSON")
    return found


class Participant:
    """A participant of a room, read from LiveKit's JSON: in snake case unless it was told otherwise, with 64-bit
    numbers as text."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.identity: str = said["identity"]
        self.joined_at_s = int(said.get("joined_at", said.get("joinedAt")) or 0)
        permission = said.get("permission") or {}
        self.may_publish = bool(permission.get("can_publish", permission.get("canPublish")))
        # Recorders, agents and the like are no users of Partyline.
        self.is_user = said.get("kind", "STANDARD") in {"STANDARD", 0}
        self.is_here = said.get("state", "ACTIVE") not in {"DISCONNECTED", 3}


def _admin(room: str) -> dict[str, object]:
    return {"roomAdmin": True, "room": room}
