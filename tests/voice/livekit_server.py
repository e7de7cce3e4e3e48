"""What LiveKit answers to those who mind its rooms, in a process of its own: livekit-api stands on asyncio.

Requests are read into the protocol buffers of LiveKit, tokens are verified by its own verifier, and answers are what
Twirp makes of its messages. Nobody talks: `POST /join` brings somebody in by a token, `GET /joined` shows who is in.
"""

import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from aiohttp import web
from google.protobuf.json_format import MessageToDict, MessageToJson, Parse
from livekit.api import TokenVerifier
from livekit.api.access_token import Claims
from livekit.protocol.models import ParticipantInfo, ParticipantPermission, Room, TrackSource
from livekit.protocol.room import (
    DeleteRoomRequest,
    DeleteRoomResponse,
    ListParticipantsRequest,
    ListParticipantsResponse,
    ListRoomsRequest,
    ListRoomsResponse,
    RemoveParticipantResponse,
    RoomParticipantIdentity,
    UpdateParticipantRequest,
)

SKEW = timedelta(seconds=60)


class NotFound(Exception):
    """There is no such room or participant."""


class Server:
    """The rooms.

    Args:
        keys: the file of keys, as `livekit-server --key-file` takes it; read when the first request comes.
    """

    def __init__(self, keys: Path) -> None:
        self._keys = keys
        self.rooms: dict[str, dict[str, ParticipantInfo]] = {}
        self.revoked: dict[str, int] = {}  # {identity: epoch seconds before which their tokens are void}

    def verified(self, token: str) -> Claims:
        """The claims of a token.

        Raises:
            Exception: whatever the verifier finds wrong.
        """
        (line,) = self._keys.read_text().splitlines()
        key, secret = line.split(": ")
        return TokenVerifier(key, secret, leeway=SKEW).verify(token)

    def join(self, token: str, joined_at_s: int) -> Claims:
        """Somebody comes in; returns what their token says."""
        claims = self.verified(token)
        grants = claims.video
        assert grants is not None
        assert grants.room_join
        permission = ParticipantPermission(
            can_subscribe=grants.can_subscribe is not False,
            can_publish=grants.can_publish is not False,
            can_publish_data=grants.can_publish_data is not False,
            can_publish_sources=[
                TrackSource.Value(name.upper()) for name in grants.can_publish_sources or ()
            ],
        )
        self.rooms.setdefault(grants.room, {})[claims.identity] = ParticipantInfo(
            identity=claims.identity,
            name=claims.name,
            state=ParticipantInfo.State.ACTIVE,
            joined_at=joined_at_s,
            permission=permission,
        )
        return claims

    def answer(self, method: str, body: bytes, claims: Claims) -> Any:
        """What a method answers, if the token grants it."""
        grants = claims.video
        assert grants is not None
        if method == "ListRooms":
            Parse(body, ListRoomsRequest())
            assert grants.room_list
            return ListRoomsResponse(rooms=[Room(name=name) for name in self.rooms])
        if method == "DeleteRoom":
            assert grants.room_create
            self._room(Parse(body, DeleteRoomRequest()).room)
            del self.rooms[Parse(body, DeleteRoomRequest()).room]
            return DeleteRoomResponse()
        request = Parse(body, _REQUESTS[method]())
        assert grants.room_admin
        assert grants.room == request.room
        if method == "ListParticipants":
            return ListParticipantsResponse(participants=self._room(request.room).values())
        present = self._room(request.room)
        if request.identity not in present:
            raise NotFound
        if method == "GetParticipant":
            return present[request.identity]
        if method == "RemoveParticipant":
            self.revoked[request.identity] = request.revoke_token_ts
            del present[request.identity]
            return RemoveParticipantResponse()
        present[request.identity].permission.CopyFrom(request.permission)
        return present[request.identity]

    def _room(self, name: str) -> dict[str, ParticipantInfo]:
        if name not in self.rooms:
            raise NotFound
        return self.rooms[name]


_REQUESTS: dict[str, Any] = {
    "ListParticipants": ListParticipantsRequest,
    "GetParticipant": RoomParticipantIdentity,
    "RemoveParticipant": RoomParticipantIdentity,
    "UpdateParticipant": UpdateParticipantRequest,
}


def application(server: Server) -> web.Application:
    """The server over HTTP."""

    async def twirp(request: web.Request) -> web.Response:
        method = request.match_info["method"]
        try:
            claims = server.verified(request.headers["authorization"].removeprefix("Bearer "))
            answer = server.answer(method, await request.read(), claims)
        except NotFound:
            return web.json_response({"code": "not_found", "msg": "no such thing"}, status=404)
        text = MessageToJson(
            answer, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
        return web.Response(text=text, content_type="application/json")

    async def join(request: web.Request) -> web.Response:
        body = await request.json()
        return web.json_response(server.join(body["token"], int(time.time())).asdict())

    async def joined(_request: web.Request) -> web.Response:
        shown = {
            room: {
                identity: MessageToDict(one.permission, preserving_proto_field_name=True)
                for identity, one in members.items()
            }
            for room, members in server.rooms.items()
        }
        return web.json_response({"rooms": shown, "revoked": server.revoked})

    app = web.Application()
    app.router.add_post("/twirp/livekit.RoomService/{method}", twirp)
    app.router.add_post("/join", join)
    app.router.add_get("/joined", joined)
    return app


if __name__ == "__main__":
    port, keys_file = int(sys.argv[1]), Path(sys.argv[2])
    web.run_app(
        application(Server(keys_file)),
        host="127.0.0.1",
        port=port,
        print=lambda _: print("serves", flush=True),
    )
