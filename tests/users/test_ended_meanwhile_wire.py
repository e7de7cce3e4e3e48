"""Wire: what ends while a body is on its way ends for its request, too (contract §2)."""

import base64
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.edge.raw import raw
from tests.support.world import Player, World, open_world
from tests.versions.hosting_play import DATA, a_file, content_of, files_of
from tests.versions.play import a_publisher

MESSAGE = b'{"content":"too late"}'


async def asked(
    who: Player,
    method: str,
    path: str,
    meanwhile: Callable[[], Awaitable[object]],
    *,
    body: bytes = MESSAGE,
    more: str = "Content-Type: application/json\r\n",
    in_address: bool = False,
) -> int:
    """The status of a request whose body is held back until something has happened."""
    if in_address:
        path += f"?access_token={who.token}"
    else:
        more += f"Authorization: Bearer {who.token}\r\n"
    head = f"{method} {path} HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: {len(body)}\r\n"
    head += f"{more}\r\n"
    async with raw(who.world.url) as client:
        await client.send(head.encode())
        # It is invited once it has been let in.
        assert (await client.read_response())[0] == 100
        await meanwhile()
        await client.send(body)
        return (await client.read_response())[0]


async def test_a_token_that_is_revoked_while_the_body_comes(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)

    async def revoke() -> None:
        await ann.do("POST", "/v1/auth/revoke", status=204)

    assert await asked(ann, "POST", room.messages, revoke) == 401
    assert (await ben.get(room.messages))["items"] == []


async def test_a_token_in_the_address_that_is_revoked_while_the_body_comes(
    database_url: str, tmp_path: Path
) -> None:
    file = {"fileName": "a.txt", "contentType": "text/plain", "dataBase64": base64.b64encode(b"a").decode()}
    async with open_world(database_url, tmp_path, allow_query_tokens="on") as world:
        ann, ben = await world.players("Ann", "Ben")
        attachments = f"{(await ann.talk_to(ben)).path}/attachments"

        async def revoke() -> None:
            await ann.do("POST", "/v1/auth/revoke", status=204)

        body = json.dumps(file).encode()
        assert await asked(ann, "POST", attachments, revoke, body=body, in_address=True) == 401


async def test_a_token_that_expires_while_the_body_comes(world: World) -> None:
    ben = await world.player("Ben")
    ann = await world.player("Ann", ttl_seconds=60)
    room = await ann.talk_to(ben)

    async def expire() -> None:
        world.clock.advance(60_000)

    assert await asked(ann, "POST", room.messages, expire) == 401


async def test_a_right_that_is_taken_while_the_body_comes(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)

    async def mute() -> None:
        await world.grant(ann, "social:chat.write", negated=True)

    assert await asked(ann, "POST", room.messages, mute) == 403


async def test_a_membership_that_ends_while_the_body_comes(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben, cid)

    async def remove() -> None:
        await ann.do("DELETE", f"{room.path}/participants/{ben.id}")

    assert await asked(ben, "POST", room.messages, remove) == 404


@pytest.mark.parametrize("key", ["", "Idempotency-Key: 1\r\n"])
async def test_a_right_while_a_file_is_put_piece_by_piece(world: World, key: str) -> None:
    pia = await a_publisher(world)
    release = await pia.release(artifacts=[a_file()])
    more = f"Content-Type: application/octet-stream\r\n{key}"

    async def dismiss() -> None:
        await world.grant(pia.player, "versions:write", negated=True)

    assert await asked(pia.player, "PUT", content_of(release), dismiss, body=DATA, more=more) == 403
    assert files_of(world) == []
