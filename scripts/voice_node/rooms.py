"""Who is in which room of the node, and what their tokens let them do. Does no I/O."""

from collections.abc import Callable
from typing import Any

import jwt
import msgspec

LEEWAY_SECONDS = 60
"""How many seconds the clocks of Partyline and the node may differ."""

VOID_SECONDS = 600
"""How long older tokens of a removed user are refused; they have ended by then."""


class Refused(Exception):
    """The token does not let its bearer in."""


class Grant(msgspec.Struct, frozen=True):
    """What a token grants.

    Args:
        room: the channel id.
        identity: the user id.
        name: the user's name.
        may_publish: whether the user's frames are passed on.
        not_before_s: when the token begins to count, epoch seconds.
    """

    room: str
    identity: str
    name: str
    may_publish: bool
    not_before_s: int


class Member:
    """A user who is connected to a room.

    Args:
        grant: what their token grants.
        send: queues a frame for them; never waits.
        close: ends their connection; never waits.
    """

    def __init__(self, grant: Grant, send: Callable[[bytes], None], close: Callable[[], None]) -> None:
        self.grant = grant
        self.may_publish = grant.may_publish
        self.send = send
        self.close = close


def read_token(token: str, key: str, secret: str) -> Grant:
    """Check a token; returns what it grants.

    Args:
        token: the JWT.
        key: the key's id, which the token must have as `iss`.
        secret: the secret that the token must be signed with (HS256).

    Raises:
        Refused: it is not signed with this key, not valid now, or for no room.
    """
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            secret,
            algorithms=["HS256"],
            issuer=key,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "nbf", "sub", "iss"]},
        )
    except jwt.PyJWTError as error:
        raise Refused(str(error)) from error
    video = claims.get("video")
    if (
        not isinstance(video, dict)
        or video.get("roomJoin") is not True
        or not isinstance(video.get("room"), str)
    ):
        raise Refused("no room")
    may_publish = video.get("canPublish") is not False and "microphone" in video.get(
        "canPublishSources", ["microphone"]
    )
    return Grant(video["room"], claims["sub"], str(claims.get("name", "")), may_publish, int(claims["nbf"]))


class Rooms:
    """All rooms of the node.

    Args:
        say: tells the person at the terminal.

    Attributes:
        muted: (room, identity) of users whose frames are not passed on, whatever their tokens say.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._rooms: dict[str, dict[str, Member]] = {}
        self._void_before_s: dict[tuple[str, str], int] = {}  # {(room, identity): …}
        self.muted: set[tuple[str, str]] = set()

    def report(self) -> list[dict[str, Any]]:
        """Who is connected, as heartbeats say it."""
        return [{"channelId": room, "participants": list(members)} for room, members in self._rooms.items()]

    def join(self, member: Member) -> None:
        """Let a member in; who is there under the same identity is disconnected.

        Raises:
            Refused: their token is older than their removal.
        """
        grant = member.grant
        if grant.not_before_s < self._void_before_s.get((grant.room, grant.identity), 0):
            raise Refused("removed")
        if (grant.room, grant.identity) in self.muted:
            member.may_publish = False
        before = self._rooms.setdefault(grant.room, {}).get(grant.identity)
        self._rooms[grant.room][grant.identity] = member
        if before is not None:
            before.close()
        self._say(f"{grant.name} joins {grant.room[:8]}")

    def leave(self, member: Member) -> None:
        """Take out a member whose connection has ended."""
        room = self._rooms.get(member.grant.room, {})
        if room.get(member.grant.identity) is member:
            del room[member.grant.identity]
            self._say(f"{member.grant.name} has gone from {member.grant.room[:8]}")
        if not room:
            self._rooms.pop(member.grant.room, None)

    def relay(self, member: Member, frame: bytes) -> int:
        """Pass a frame on to the others in the room; returns to how many. The frame of a muted member goes to
        nobody."""
        if not member.may_publish:
            return 0
        others = [one for one in self._rooms.get(member.grant.room, {}).values() if one is not member]
        for one in others:
            one.send(frame)
        return len(others)

    def obey(self, action: dict[str, Any]) -> None:
        """Carry out one of Partyline's orders; doing that again does no harm."""
        kind, room_id, identity = action["kind"], action["channelId"], action.get("userId", "")
        members = self._rooms.get(room_id, {})
        self._say(f"{kind} {identity[:8]} in {room_id[:8]}")
        match kind:
            case "close":
                self.muted = {one for one in self.muted if one[0] != room_id}
                for one in tuple(members.values()):
                    one.close()
            case "remove":
                self._void(room_id, identity, action["notBefore"])
                member = members.get(identity)
                if member is not None and member.grant.not_before_s < action["notBefore"]:
                    member.close()
            case "mute" | "unmute":
                self._mute(room_id, identity, muted=kind == "mute")

    def _void(self, room_id: str, identity: str, not_before_s: int) -> None:
        self.muted.discard((room_id, identity))
        kept = {key: at_s for key, at_s in self._void_before_s.items() if at_s + VOID_SECONDS > not_before_s}
        self._void_before_s = {**kept, (room_id, identity): not_before_s}

    def _mute(self, room_id: str, identity: str, *, muted: bool) -> None:
        if muted:
            self.muted.add((room_id, identity))
        else:
            self.muted.discard((room_id, identity))
        member = self._rooms.get(room_id, {}).get(identity)
        if member is not None:
            member.may_publish = not muted
