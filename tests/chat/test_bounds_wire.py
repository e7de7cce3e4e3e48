"""Wire: what one user may make of conversations, exactly, however much is asked for at once."""

from asyncio import wrap_future
from concurrent.futures import Future
from functools import partial

import pytest
import trio

from actors.chat.bounds import ADDED_MAX, GROUPS_DEFAULT, MEMBERSHIPS_MAX
from actors.chat.commands import EditMessage
from persistence.bridge.database import Database
from persistence.chat import bounds, leavings
from persistence.chat.messages import REVISIONS_KEPT
from persistence.connection import Connection
from tests.chat.asleep import sleep
from tests.chat.play import a_file, uid
from tests.chat.stage import open_stage
from tests.support.canaries import dump, found
from tests.support.jobs import job_named
from tests.support.locks import crossed
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import CONVERSATIONS, Player, Room, World

AT_ONCE = 100


@pytest.fixture
async def quiet(world: World) -> World:
    """A world in which rates do not come first."""
    for service in world.services:
        service.limits.enabled = False
    return world


async def make_groups(conn: Connection, owner_id: str, member_ids: list[str], count: int) -> None:
    """So many groups of these members, straight into the rows."""
    await conn.execute(
        """
        INSERT INTO conversations (id, kind, owner_id, created_at_ms)
        SELECT 'b' || lpad(to_hex(n), 23, '0'), 'group', $1, 1 FROM generate_series(1, $2) AS n
        """,
        owner_id,
        count,
    )
    await conn.execute(
        """
        INSERT INTO conversation_members (conversation_id, user_id, joined_at_ms, joined_seq, read_seq)
        SELECT 'b' || lpad(to_hex(n), 23, '0'), m, 1, 0, 0
        FROM generate_series(1, $2) AS n, unnest($1::text[]) AS m
        """,
        member_ids,
        count,
    )


async def make_people(conn: Connection, count: int) -> list[str]:
    rows = await conn.fetch(
        """
        INSERT INTO users (id, name, name_lower, name_issued_at_s, created_at_ms, updated_at_ms)
        SELECT gen_random_uuid()::text, 'p' || n, 'p' || n, 0, 0, 0 FROM generate_series(1, $1) AS n RETURNING id
        """,
        count,
    )
    return [row["id"] for row in rows]


async def answers(player: Player, requests: list[tuple[str, object]]) -> dict[tuple[int, object], int]:
    """{(status, `meta.max`): how many} of so many POSTs at once."""
    counts: dict[tuple[int, object], int] = {}

    async def one(path: str, body: object) -> None:
        answer = await player.ask("POST", path, body)
        key = (answer.status_code, answer.json().get("meta", {}).get("max"))
        counts[key] = counts.get(key, 0) + 1

    async with trio.open_nursery() as nursery:
        for path, body in requests:
            nursery.start_soon(one, path, body)
    return counts


def group_of(*ids: str) -> tuple[str, object]:
    return CONVERSATIONS, {"kind": "group", "participantIds": list(ids)}


async def test_no_more_groups_are_owned_than_allowed(quiet: World) -> None:
    ann, ben = await quiet.players("Ann", "Ben")
    people = await quiet.service.database.transact(make_people, AT_ONCE)
    await quiet.service.database.transact(make_groups, ann.id, [ann.id], GROUPS_DEFAULT - 7)
    counts = await answers(ann, [group_of(ben.id, id) for id in people])
    assert counts == {(201, None): 7, (422, GROUPS_DEFAULT): AT_ONCE - 7}
    # One that is there already is found all the same, and a grant makes room.
    await quiet.grant(ann, "social:groups.max", value={"value": GROUPS_DEFAULT + 1, "unit": "count"})
    assert (await answers(ann, [group_of(id) for id in people])) == {
        (201, None): 1,
        (422, GROUPS_DEFAULT + 1): AT_ONCE - 1,
    }


async def test_nobody_is_added_to_more_groups_than_one_may_be_in(quiet: World) -> None:
    ann, ben = await quiet.players("Ann", "Ben")
    await quiet.grant(ann, "social:groups.max", value={"value": 10_000, "unit": "count"})
    people = await quiet.service.database.transact(make_people, 20)
    rooms = [Room((await ann.do("POST", *group_of(id)))["id"]) for id in people]
    await quiet.service.database.transact(make_groups, "x", [ben.id], MEMBERSHIPS_MAX - 3)
    adding: list[tuple[str, object]] = [
        (f"{room.path}/participants", {"userIds": [ben.id]}) for room in rooms
    ]
    counts = await answers(ann, adding)
    assert counts == {(200, None): 3, (422, MEMBERSHIPS_MAX): 17}
    # Not a group of all three: that one may be there by now, and is found.
    refused = await ann.ask("POST", *group_of(people[0], people[1], ben.id))
    assert refused.json()["errors"][0]["pointer"] == "/participantIds/2"
    # Direct conversations stay possible, and who is in already takes no room.
    await ann.talk_to(ben)
    left = await quiet.service.database.read(waiting)
    assert left == 0


@pytest.mark.parametrize("how", ["a new group", "an addition"])
async def test_nobody_waits_for_who_is_refused(quiet: World, how: str) -> None:
    """All who add to groups take turns. To count the groups of a thousand users takes a while, and what is refused may
    be asked for again and again."""
    ann, ben = await quiet.players("Ann", "Ben")
    (other,) = await quiet.service.database.transact(make_people, 1)
    room = Room((await ann.do("POST", *group_of(other)))["id"])
    await quiet.service.database.transact(make_groups, "x", [ben.id], MEMBERSHIPS_MAX)
    asked = group_of(ben.id) if how == "a new group" else (f"{room.path}/participants", {"userIds": [ben.id]})
    taken, done, here = trio.Event(), Future[None](), trio.lowlevel.current_trio_token()

    async def hold(conn: Connection) -> None:
        await bounds.lock(conn)
        here.run_sync_soon(taken.set)
        await wrap_future(done)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(quiet.service.database.transact, timeout_seconds=PATIENCE_SECONDS), hold)
        await taken.wait()
        refused = await ann.refused("POST", *asked)
        done.set_result(None)
    assert refused == (422, "QUOTA_EXCEEDED")


async def waiting(conn: Connection) -> int:
    return int(await conn.fetchval("SELECT count(*) FROM members_to_be"))


async def test_nobody_brings_more_others_into_conversations_a_day_than_allowed(quiet: World) -> None:
    ann = await quiet.player("Ann")
    people = await quiet.service.database.transact(make_people, 1_023)
    room = Room((await ann.do("POST", *group_of(*people)))["id"])
    await ann.do("POST", *group_of(*people[:1_000]))
    left = ADDED_MAX - 2_023
    direct = [(CONVERSATIONS, {"kind": "direct", "participantIds": [id]}) for id in people[:AT_ONCE]]
    assert await answers(ann, direct) == {(201, None): left, (422, ADDED_MAX): AT_ONCE - left}
    # Who is in already is not brought in.
    await ann.do("POST", f"{room.path}/participants", {"userIds": people}, status=200)


async def test_what_a_turn_refuses_is_given_back(quiet: World) -> None:
    ann, ben, cid = await quiet.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben, cid)
    added = partial(count_of, user_id=ann.id)
    before = await quiet.service.database.read(added)
    unknown = "00000000-0000-4000-8000-000000000000"
    assert await ann.refused("POST", f"{room.path}/participants", {"userIds": [unknown]}) == (
        422,
        "VALIDATION_FAILED",
    )
    await ann.do("POST", f"{room.path}/participants", {"userIds": [ben.id]}, status=200)
    assert await quiet.service.database.read(added) == before
    assert await quiet.service.database.read(waiting) == 0


async def count_of(conn: Connection, *, user_id: str) -> int:
    return int(await conn.fetchval("SELECT members FROM members_added WHERE user_id = $1", user_id))


async def test_edits_do_not_pile_up_texts_without_end(database: Database) -> None:
    stage = await open_stage(database)
    message = await stage.post("ann", "text 1")
    for number in range(2, 80):
        await stage.do(EditMessage(uid("ann"), message.id, f"text {number}"))

    async def kept(conn: Connection) -> list[int]:
        rows = await conn.fetch("SELECT revision FROM message_revisions ORDER BY revision")
        return [row["revision"] for row in rows]

    newest = 78  # the 79th is the message itself
    assert await database.read(kept) == [1, *range(newest - REVISIONS_KEPT + 2, newest + 1)]


async def test_a_group_that_everybody_has_left_leaves_nothing(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room, other = await ann.talk_to(ben, kind="group"), await ann.talk_to(ben)
    await ann.say(other, "stays")
    file = await ann.do("POST", f"{room.path}/attachments", a_file(b"zwiebel", "zwiebel.txt", "text/plain"))
    unused = await ann.do("POST", f"{room.path}/attachments", a_file(b"zwiebel", "zwiebel.txt", "text/plain"))
    assert unused["id"] != file["id"]
    poll = {"question": "zwiebel?", "options": [{"label": "zwiebel a"}, {"label": "b"}]}
    said = await ann.do(
        "POST", room.messages, {"content": "zwiebel", "poll": poll, "attachmentIds": [file["id"]]}, status=201
    )
    await ben.do("POST", f"{room.message(said['id'])}/poll/vote", {"optionIds": ["1"]})
    await ann.do("PATCH", room.message(said["id"]), {"content": "zwiebel again"})
    for player in (ann, ben):
        await player.do("DELETE", f"{room.path}/participants/{player.id}", status=204)
    database = world.service.database

    async def run_on_all_nodes() -> None:
        for service in world.services:
            await job_named(world, "groups that everybody has left", at=service).run()

    # An actor that is awake is left alone until it sleeps.
    await run_on_all_nodes()
    assert found(["zwiebel"], await database.read(dump))
    await sleep(world, room)
    await run_on_all_nodes()
    text = await database.read(dump)
    assert found(["zwiebel", room.id, said["id"]], text) == []
    assert found(["stays"], text)
    assert await database.read(leavings.abandoned, 10) == []


async def test_a_group_is_made_while_its_maker_adds_to_another(quiet: World) -> None:
    ann, ben = await quiet.players("Ann", "Ben")

    async def count(conn: Connection) -> None:
        await bounds.count_added(conn, ann.id, 1, now_ms=quiet.clock.now_ms())

    body = {"kind": "group", "title": "Sky", "participantIds": [ben.id]}
    make = partial(ann.do, "POST", CONVERSATIONS, body, status=201)
    await crossed(quiet.service.database, bounds.lock, count, make)
