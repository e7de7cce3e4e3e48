"""What ends before it is done: callers who leave, sockets that are torn, servers that vanish, changes that fail."""

import json
from urllib.parse import urlsplit

import trio

from tests.census.cast import Cast, Life
from tests.chat.play import a_file
from tests.connect.play import GameServer, claimed
from tests.gateways.play import gateway
from tests.party.play import PARTY, gather
from tests.sessions.play import link_of, signed_in
from tests.shop.play import open_shop
from tests.support.refusing import allow, refuse
from tests.support.websocket import Refused
from tests.support.world import Player
from tests.voice.play import join, node, node_server, private

OWN_CHANNELS = "inbox,friends,party,notifications,news,shop,games,voice,servers"


async def a_body_that_never_comes(cast: Cast) -> None:
    room = await cast.ann.talk_to(cast.ben)
    for path in (room.messages, f"{room.path}/attachments", "/v1/profile/capes"):
        await _leave(cast.ann, "POST", path, json.dumps(a_file()).encode(), part=0.5)


async def a_head_that_never_ends(cast: Cast) -> None:
    stream = await _connection(cast)
    await stream.send_all(b"GET /v1/profile/self HTTP/1.1\r\nhost: x\r\nauthoriz")
    await trio.aclose_forcefully(stream)


async def an_answer_that_nobody_reads(cast: Cast) -> None:
    room = await cast.ann.talk_to(cast.ben)
    await cast.ann.say(room, "x" * 1000)
    for path in ("/openapi.json", room.messages, "/v1/profile/self"):
        await _leave(cast.ann, "GET", path)


async def long_polls_that_are_cancelled(cast: Cast) -> None:
    server = await claimed(cast.world, cast.ann)
    await _leave(server, "GET", f"{server.path}/commands?wait=20")
    way = await gateway(cast.world, f"gw{cast.number}.example.net")
    body = {"connections": 0, "routesRevision": 0, "waitSeconds": 20}
    await way.beat()
    await _leave(way, "POST", way.path, json.dumps(body).encode())
    heard = await node(cast.world, await node_server(cast.world))
    beat = {"participants": 0, "channels": 0, "load": 0.1, "draining": False, "waitSeconds": 20, "ack": None}
    await _leave(heard, "POST", f"{heard.path}/heartbeat", json.dumps(beat).encode())
    order = json.dumps({"action": "restart"}).encode()
    await _leave(cast.ann, "POST", f"{server.path}/commands", order, prefer="wait=20")


async def servers_that_vanish(cast: Cast) -> None:
    """Their streams are torn; one has taken a command, and one is removed while it listens."""
    for removed in (False, True):
        server = await claimed(cast.world, cast.ann)
        async with server.live(f"{server.path}/stream", headers=[("x-server-id", server.id)]) as stream:
            await cast.ann.do("POST", f"{server.path}/commands", {"action": "restart"}, status=201)
            await stream.receive_json()
            if removed:
                await cast.ann.do("DELETE", server.path)
            await trio.aclose_forcefully(stream.stream)


async def sockets_that_are_torn(cast: Cast) -> None:
    room = await cast.ann.talk_to(cast.ben)
    await gather(cast.ann, cast.ben)
    for player in (cast.ann, cast.ben):
        path = f"/v1/social/live?channels={OWN_CHANNELS},conversation:{room.id}"
        async with player.live(path) as torn:
            await torn.receive_until(type="hello")
            await torn.send_json({"id": 1, "op": "typing", "conversationId": room.id, "typing": True})
            await torn.send_json(
                {"id": 2, "op": "send", "conversationId": room.id, "data": {"content": "bye"}}
            )
            await trio.aclose_forcefully(torn.stream)


async def handshakes_that_are_refused(cast: Cast) -> None:
    wrong = Player(cast.world, "", "", "no token")
    for player in (wrong, cast.ann):
        try:
            async with player.live("/v1/social/live?channels=nonsense,inbox") as socket:
                await socket.receive_until(type="hello")
        except Refused as refused:
            assert refused.status < 500


async def subscriptions_that_are_refused(cast: Cast) -> None:
    socket = cast.sockets[cast.ann.id]
    for channel in (
        "moderation",
        "metrics",
        "actors",
        f"server:{cast.ben.id}",
        f"conversation:{cast.number:024x}",
    ):
        await socket.send_json({"id": channel, "op": "subscribe", "channel": channel})
        reply = await socket.receive_until(type="reply", id=channel)
        assert not reply["ok"]


async def changes_that_rows_refuse(cast: Cast) -> None:
    room = await cast.ann.talk_to(cast.ben)
    await cast.sees(room.channel)
    server, stranger = await claimed(cast.world, cast.ann), await cast.world.player("Unlucky")
    for table, caller, path, body in (
        ("messages", cast.ben, room.messages, {"content": "lost"}),
        ("parties", stranger, PARTY, None),
        ("friend_requests", stranger, "/v1/social/friends/requests", {"targetId": cast.ann.id}),
        ("connect_commands", cast.ann, f"{server.path}/commands", {"action": "restart"}),
    ):
        await refuse(cast.world, f"INSERT ON {table}", "true")
        once = {"idempotency-key": f"lost-{table}-{cast.number}"}
        response = await caller.ask("POST", path, body, headers=once)
        assert response.status_code >= 400, response.text
        await allow(cast.world)


async def things_that_are_never_used(cast: Cast) -> None:
    """A sign-in link, a session that is never renewed, an order that is never paid, an invite never answered."""
    await link_of(cast.ann)
    await signed_in(cast.ann)
    shop = await open_shop(cast.world)
    await shop.order(cast.ben, await shop.product(f"never-{cast.number}"))
    server = await claimed(cast.world, cast.ann)
    await cast.ben.do("POST", f"{server.path}/join-tickets", status=201)
    await cast.ann.do(
        "POST", f"{server.path}/invites", {"inviteeUserId": cast.ben.id, "role": "viewer"}, status=201
    )
    stranger = await cast.world.player("Stranger")
    await cast.ann.do("POST", f"{PARTY}/invites", {"targetId": stranger.id}, status=200)


async def calls_that_nobody_hangs_up(cast: Cast) -> None:
    await node(cast.world, await node_server(cast.world))
    await cast.sees("voice")
    await join(cast.ann, await private(cast.ann, cast.ben))


MISHAPS: tuple[Life, ...] = (
    a_body_that_never_comes,
    a_head_that_never_ends,
    an_answer_that_nobody_reads,
    long_polls_that_are_cancelled,
    servers_that_vanish,
    sockets_that_are_torn,
    handshakes_that_are_refused,
    subscriptions_that_are_refused,
    changes_that_rows_refuse,
    things_that_are_never_used,
    calls_that_nobody_hangs_up,
)


async def _leave(
    caller: Player | GameServer,
    method: str,
    path: str,
    body: bytes = b"",
    *,
    part: float = 1.0,
    **headers: str,
) -> None:
    """Send a request, or a part of its body, and be gone once another request was answered meanwhile."""
    stream = await _connection(caller)
    sent = {**caller.headers, **headers, "host": "x", "content-length": str(len(body))}
    if body:
        sent["content-type"] = "application/json"
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    await stream.send_all(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body[: int(part * len(body))])
    await caller.world.nobody().get("/health")
    await trio.aclose_forcefully(stream)


async def _connection(at: Cast | Player) -> trio.SocketStream:
    place = urlsplit(at.world.url)
    return await trio.open_tcp_stream(place.hostname or "", place.port or 0)
