"""What a user may take with them is complete, has no secrets, and nothing that others wrote."""

import json
import stat
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from persistence.connection import Connection
from persistence.errors import PersistenceError
from persistence.exporting import Exported
from routes.chat.parts import BLOBS
from routes.cli.export import export_user
from routes.cli.faults import CommandFault
from routes.domain import Domain
from routes.domains import DOMAINS
from tests.chat.history import archive_old
from tests.chat.play import PNG
from tests.news.play import POLL
from tests.shop.play import open_shop
from tests.support.world import Player, Room, World
from tests.users.play import again, erase
from tests.users.traces import NAME, SECRET, everything, traces

TABLES = {table.table: table for domain in DOMAINS for table in domain.exported}

LEFT_OUT = {
    "channel_pointers": "the newest of channel_activations",
    "connect_tickets": "a secret that lives for a minute",
    "discord_outbox": "posts on their way",
    "moderator_notes": "what others have written of them",
    "notification_heads": "where the notifications end",
    "sign_in_links": "a secret that lives for minutes",
    "voice_sessions": "where they are at this moment",
}
"""Tables that refer to a user, and why none of their rows is exported."""

WRITTEN_OF_THEM = {"audit_log", "events", "heads", "receipts", "snapshots"}
"""Tables with copies of what other tables have, and with what was done to them."""


async def references(conn: Connection) -> list[tuple[str, str]]:
    """(table, column) of everything that refers to a user."""
    rows = await conn.fetch(
        "SELECT conrelid::regclass::text AS name, attname FROM pg_constraint"
        " JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]"
        " WHERE contype = 'f' AND confrelid = 'users'::regclass"
    )
    return [(row["name"], row["attname"]) for row in rows]


async def test_whatever_refers_to_a_user_is_exported_or_left_out_for_a_reason(world: World) -> None:
    found: Any = await world.service.database.read(references)
    named = {(name, column) for name, column in found if name in TABLES and column in TABLES[name].where}
    missing = {one for one in found if one not in named and one[0] not in LEFT_OUT}
    # Of a link between two users the one who made it has it; a veil shows the one what the other sees; and a checkout
    # is the payer's.
    assert missing == {
        ("friend_links", "friend_id"),
        ("veils", "viewer_id"),
        ("shop_checkouts", "recipient_id"),
    }, "a table that refers to a user stands in `persistence/<domain>/exported.py`, or in LEFT_OUT here"
    assert not LEFT_OUT.keys() & TABLES.keys()


async def test_everything_of_theirs_and_nothing_of_others(world: World, tmp_path: Path) -> None:
    ann, ben = await world.players(NAME, "Ben")
    await everything(world, ann, ben)
    await ben.say(await ben.talk_to(ann), "this is Ben's own")
    database = world.service.database
    path = tmp_path / "ann.zip"
    said = await export_user(ann.id, path, database, world.service.of(BLOBS), DOMAINS)
    assert said.startswith(f"{path}: ")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with ZipFile(path) as archive:
        assert archive.testzip() is None
        inside = {name: archive.read(name) for name in archive.namelist()}
    tables = {
        name.removesuffix(".json"): json.loads(data)
        for name, data in inside.items()
        if name.endswith(".json")
    }
    assert tables["users"][0]["name"] == NAME
    shared = tables["profile_shares"][0]
    assert shared["manifest"] == {"word": SECRET}
    assert [one["poll"]["question"] for one in tables["news_polls"]] == [POLL["question"]]
    traced: Any = await database.read(traces, SECRET)
    assert set(traced) - set(tables) <= WRITTEN_OF_THEM | LEFT_OUT.keys()
    assert PNG in inside.values()
    whole = b"".join(inside.values())
    assert b"this is Ben's own" not in whole
    for column in ("secret", "token", "hash", "sealed"):
        held = [
            name for name, rows in tables.items() for row in rows for key in row if column in key and row[key]
        ]
        assert held == [], column
    with pytest.raises(CommandFault, match="is there already"):
        await export_user(ann.id, path, database, world.service.of(BLOBS), DOMAINS)
    with pytest.raises(CommandFault, match="there is no user"):
        await export_user(ann.id[::-1], tmp_path / "nobody.zip", database, world.service.of(BLOBS), DOMAINS)
    assert not (tmp_path / "nobody.zip").exists()


async def tables_of(player: Player, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """{table: rows} of all that somebody takes along."""
    path, service = folder / f"{player.name}.zip", player.world.service
    await export_user(player.id, path, service.database, service.of(BLOBS), DOMAINS)
    with ZipFile(path) as archive:
        return {name.removesuffix(".json"): json.loads(archive.read(name)) for name in archive.namelist()}


async def test_who_is_given_something_does_not_take_the_payment_along(world: World, tmp_path: Path) -> None:
    ann, ben = await world.players("Ann", "Ben")
    shop = await open_shop(world)
    back = f"{world.service.config.base_url}/?word={SECRET}"
    await shop.buy(ben, await shop.product(), recipientId=ann.id, successUrl=back, cancelUrl=back)
    given, paid = await tables_of(ann, tmp_path), await tables_of(ben, tmp_path)
    (hers,), (his,) = given["shop_purchases"], paid["shop_purchases"]
    (checkout,) = paid["shop_checkouts"]
    private = ("payer_id", "checkout_id", "provider_ref")
    assert (checkout["success_url"], his["payer_id"], his["checkout_id"]) == (back, ben.id, checkout["id"])
    assert hers == {**his, **dict.fromkeys(private)}
    assert "shop_checkouts" not in given


@pytest.mark.one_node(because="it spends whole minutes of its rate by a clock that jumps")
async def test_archived_messages_of_a_group_that_was_left(world: World, tmp_path: Path) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ben.talk_to(ann, cid)
    await ann.say(room, "mine")
    await ben.say(room, f"<@user:{ann.id}>!", mentions=[{"kind": "user", "id": ann.id}])
    for number in range(120):
        world.clock.advance(1000)
        await ben.say(room, str(number))
    moved = await archive_old(world.service.database, before_ms=world.clock.now_ms() - 1000)
    assert moved >= 2
    await ann.do("DELETE", f"{room.path}/participants/{ann.id}")
    (kept,) = (await tables_of(ann, tmp_path))["archived_messages"]
    assert kept["record"]["content"] == "mine"


async def test_who_comes_back_takes_nothing_along_of_before(world: World, tmp_path: Path) -> None:
    ann, ben = await world.players(NAME, "Ben")
    await everything(world, ann, ben)
    room = await ann.talk_to(ben)
    said = await ann.say(room, SECRET)
    await ann.do("PATCH", room.message(said["id"]), {"content": f"{SECRET}!", "mentions": []})
    await _vote(ann, room, await _ask(ben, room))
    await erase(world, ann)
    back = again(world, ann)
    await back.get("/v1/profile/self")
    afresh = await back.talk_to(ben)
    await back.say(afresh, "anew")
    asked = await _ask(ben, afresh)
    await _vote(back, afresh, asked)
    taken = await tables_of(back, tmp_path)
    assert SECRET not in str(taken)
    assert [one["record"]["content"] for one in taken["messages"]] == ["anew"]
    assert [one["message_id"] for one in taken.pop("poll_votes")] == [asked]
    assert taken.keys() <= {"users", "conversation_members", "messages", "flame_streaks", "user_grants"}


async def _ask(player: Player, room: Room) -> str:
    """Post a poll; returns the message's id."""
    poll = {"question": "When?", "options": [{"label": "today"}, {"label": "never"}]}
    asked = await player.do("POST", room.messages, {"content": "", "poll": poll}, status=201)
    return str(asked["id"])


async def _vote(player: Player, room: Room, message_id: str) -> None:
    await player.do("POST", f"{room.message(message_id)}/poll/vote", {"optionIds": ["1"]}, status=200)


async def test_an_export_that_fails_leaves_nothing(world: World, tmp_path: Path) -> None:
    ann = await world.player("Ann")
    # The first rows are written before it fails.
    failing = Exported("generate_series(1, 500) AS one", "1 / (300 - one) IS NOT NULL AND $1 <> ''")
    domains = (Domain(name="failing", mounts=(), exported=(failing,)),)
    folder = tmp_path / "exports"
    folder.mkdir()
    with pytest.raises(PersistenceError):
        await export_user(
            ann.id, folder / "ann.zip", world.service.database, world.service.of(BLOBS), domains
        )
    with pytest.raises(CommandFault, match="No such file"):
        await export_user(
            ann.id, folder / "none" / "ann.zip", world.service.database, world.service.of(BLOBS), DOMAINS
        )
    folder.rmdir()
