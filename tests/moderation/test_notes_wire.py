"""Wire: what moderators note about users: who reads and changes it, its bounds, and what becomes of it."""

import pytest

from actors.moderation import units_notes
from tests.support.one_world import in_one_world
from tests.support.world import Player, World
from tests.users.play import erase


def notes_of(user: Player) -> str:
    return f"/v1/admin/users/{user.id}/notes"


async def test_notes_are_shared_by_moderators(world: World) -> None:
    mona, max_ = await world.ranked("Mona", "moderator"), await world.ranked("Max", "admin")
    ann, root = await world.player("Ann"), await world.super_admin()
    path = notes_of(ann)
    first = await mona.do("POST", path, {"text": " Loud in chat.\r\nTwice. "}, status=201)
    assert first == {
        "id": first["id"], "userId": ann.id, "authorId": mona.id, "authorName": "Mona",
        "text": "Loud in chat.\nTwice.", "createdAt": first["createdAt"], "updatedAt": first["createdAt"],
    }  # fmt: skip
    second = await max_.do("POST", path, {"text": "Fine since."})
    page = await max_.get(path, limit=1)
    assert (page["items"], page["hasMore"]) == ([second], True)
    assert (await mona.get(path, cursor=page["nextCursor"]))["items"] == [first]

    one = f"{path}/{first['id']}"
    assert await max_.refused("PATCH", one, {"text": "No."}) == (403, "FORBIDDEN")
    assert await max_.refused("DELETE", one) == (403, "FORBIDDEN")
    changed = await mona.do("PATCH", one, {"text": "Loud."}, status=200)
    assert (changed["text"], changed["authorId"]) == ("Loud.", mona.id)
    assert await mona.do("PATCH", one, {"text": "Loud."}) == changed
    assert (await root.do("PATCH", one, {"text": "Was loud."}))["authorId"] == mona.id
    await root.do("DELETE", one, status=204)
    assert await mona.refused("DELETE", one) == (404, "NOT_FOUND")
    assert (await mona.get(path))["items"] == [second]
    # What was written is not in the trail, which outlives the user.
    trail = await root.get("/v1/admin/audit", targetId=ann.id)
    assert [one["action"] for one in trail["items"]] == [
        "note.removed", "note.changed", "note.changed", "note.added", "note.added",
    ]  # fmt: skip
    assert "oud" not in str(trail)


async def test_who_is_no_moderator_reads_none(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await world.grant(ben, "admin:user:view")
    for player in (ann, ben):
        assert await player.refused("GET", notes_of(ann)) == (403, "FORBIDDEN")
        assert await player.refused("POST", notes_of(ann), {"text": "x"}) == (403, "FORBIDDEN")


async def test_notes_about_a_moderator_are_for_others(world: World) -> None:
    mona, max_ = await world.ranked("Mona", "moderator"), await world.ranked("Max", "admin")
    path = notes_of(mona)
    made = await max_.do("POST", path, {"text": "Too quick."}, status=201)
    for method, at, body in (
        ("GET", path, None),
        ("GET", notes_of(mona).replace(mona.id, mona.id.upper()), None),
        ("POST", path, {"text": "Fine."}),
        ("PATCH", f"{path}/{made['id']}", {"text": "Fine."}),
        ("DELETE", f"{path}/{made['id']}", None),
        ("DELETE", f"{path}/{'0' * 24}", None),
    ):
        assert await mona.refused(method, at, body) == (403, "FORBIDDEN"), (method, at)
    assert (await max_.get(path))["items"] == [made]


async def test_a_note_is_out_of_reach_for_an_author_whom_it_is_about(world: World) -> None:
    """Who has lost the role of a super-admin has written about themselves, and is bound like others."""
    root, other = await world.super_admin(), await world.ranked("Rita", "super-admin")
    path = notes_of(root)
    one = f"{path}/{(await root.do('POST', path, {'text': 'Hm.'}, status=201))['id']}"
    assert (await root.do("PATCH", one, {"text": "Fine."}))["text"] == "Fine."
    assert len((await root.get(path))["items"]) == 1
    await other.do("PUT", f"/v1/admin/users/{root.id}/roles/moderator")
    await other.do("DELETE", f"/v1/admin/users/{root.id}/roles/super-admin")
    assert await root.refused("PATCH", one, {"text": "Better."}) == (403, "FORBIDDEN")
    assert await root.refused("DELETE", one) == (403, "FORBIDDEN")
    await other.do("DELETE", one, status=204)


@in_one_world("text", ["", " \n ", "x" * 2_001, "a\x07b"])
async def test_texts_that_are_refused(world: World, text: str) -> None:
    mona, ann = await world.ranked("Mona", "moderator"), await world.player("Ann")
    assert await mona.refused("POST", notes_of(ann), {"text": text}) == (422, "VALIDATION_FAILED")


async def test_what_is_not_there(world: World) -> None:
    mona, ann = await world.ranked("Mona", "moderator"), await world.player("Ann")
    other = await world.player("Ben")
    made = await mona.do("POST", notes_of(ann), {"text": "Hm."})
    for path in (f"{notes_of(other)}/{made['id']}", f"{notes_of(ann)}/{'0' * 24}", f"{notes_of(ann)}/x"):
        assert await mona.refused("PATCH", path, {"text": "x"}) == (404, "NOT_FOUND")
    nobody = "/v1/admin/users/00000000-0000-4000-8000-000000000000/notes"
    assert await mona.refused("GET", nobody) == (404, "NOT_FOUND")
    assert await mona.refused("POST", nobody, {"text": "x"}) == (404, "NOT_FOUND")


async def test_notes_about_one_user_are_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units_notes, "NOTES_MAX", 2)
    mona, ann = await world.ranked("Mona", "moderator"), await world.player("Ann")
    for _ in range(2):
        await mona.do("POST", notes_of(ann), {"text": "Hm."})
    assert await mona.refused("POST", notes_of(ann), {"text": "Hm."}) == (422, "QUOTA_EXCEEDED")


async def test_a_note_goes_with_the_user_and_outlives_its_author(world: World) -> None:
    mona, max_ = await world.ranked("Mona", "moderator"), await world.ranked("Max", "moderator")
    ann = await world.player("Ann")
    await mona.do("POST", notes_of(ann), {"text": "Hm."})
    await erase(world, mona)
    (left,) = (await max_.get(notes_of(ann)))["items"]
    assert (left["authorId"], left["authorName"], left["text"]) == (None, None, "Hm.")
    assert await max_.refused("DELETE", f"{notes_of(ann)}/{left['id']}") == (403, "FORBIDDEN")
    await erase(world, ann)
    assert await max_.refused("GET", notes_of(ann)) == (404, "NOT_FOUND")
