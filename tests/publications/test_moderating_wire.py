"""Wire: operators see all publications, feature and suppress them, and say why."""

from tests.connect.play import claimed
from tests.publications.play import flush, names, path_of, publish, push, shown
from tests.saved_servers.play import save_all
from tests.support.world import Player, World

PUBLICATIONS = "/v1/admin/connect/publications"


async def listed(admin: Player, **query: object) -> list[str]:
    """Display names of all pages, each of two."""
    found, cursor = [], ""
    while cursor is not None:
        page = await admin.get(PUBLICATIONS, limit=2, **query, **({"cursor": cursor} if cursor else {}))
        found += [item["displayName"] for item in page["items"]]
        cursor = page["nextCursor"]
    return found


async def test_all_are_listed(world: World) -> None:
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    for name, more in (("Sky", {}), ("skyline", {"hidden": True}), ("Äther", {})):
        server = await claimed(world, ann, name)
        await publish(ann, server, displayName=name, address=f"h{len(name)}{name[-1]}.example.org", **more)
    assert await listed(admin) == ["Sky", "skyline", "Äther"]
    assert await listed(admin, query="SKY") == ["Sky", "skyline"]
    assert await listed(admin, state="UNLISTED") == ["skyline"]
    assert await listed(admin, state="CONNECT", featured="false") == ["Sky", "Äther"]
    assert await listed(admin, featured="true") == []
    assert await ann.refused("GET", PUBLICATIONS) == (403, "FORBIDDEN")


async def test_a_publication_is_suppressed_and_comes_back(world: World) -> None:
    admin, root, ann = (
        await world.ranked("Adam", "admin"),
        await world.super_admin(),
        await world.player("Ann"),
    )
    server = await claimed(world, ann)
    made = await publish(ann, server)
    await push(server)
    await flush(world)
    one = f"{PUBLICATIONS}/{made['id']}"
    assert await names(ann) == ["Sky Islands"]
    said = {"suppressed": True, "reason": " Not what it says. "}
    judged = await admin.do("PATCH", one, said, status=200)
    assert (judged["suppressed"], judged["discoveryState"]) == (True, "SUPPRESSED")
    assert await admin.do("PATCH", one, said) == judged
    assert await names(ann) == []
    # Whoever publishes it anew does not undo that.
    assert (await publish(ann, server, displayName="Sky"))["discoveryState"] == "SUPPRESSED"
    assert await ann.refused("DELETE", path_of(server)) == (409, "INVALID_STATE")
    back = await admin.do("PATCH", one, {"suppressed": False, "featured": True})
    assert (back["suppressed"], back["featured"], back["discoveryState"]) == (False, True, "CONNECT")
    await flush(world)
    assert await names(ann) == ["Sky"]
    assert (await shown(ann, server))["featured"]
    trail = (await root.get("/v1/admin/audit", targetId=made["id"]))["items"]
    assert [(entry["actorId"], entry["detail"]) for entry in trail] == [
        (admin.id, {
            "publicationId": made["id"], "reason": None,
            "before": {"featured": False, "suppressed": True},
            "after": {"featured": True, "suppressed": False},
        }),
        (admin.id, {
            "publicationId": made["id"], "reason": "Not what it says.",
            "before": {"featured": False, "suppressed": False},
            "after": {"featured": False, "suppressed": True},
        }),
    ]  # fmt: skip


async def test_a_saved_address_is_suppressed(world: World) -> None:
    """It is in no list before or after."""
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    (saved,) = await save_all(ann, "bad.example.org")
    judged = await admin.do("PATCH", f"{PUBLICATIONS}/{saved}", {"suppressed": True})
    assert (judged["discoveryState"], judged["connectTargetId"]) == ("SUPPRESSED", None)
    back = await admin.do("PATCH", f"{PUBLICATIONS}/{saved}", {"suppressed": False})
    assert back["discoveryState"] == "UNLISTED"


async def test_judging_an_unknown_publication_or_by_a_bad_body_is_refused(world: World) -> None:
    admin, mona = await world.ranked("Adam", "admin"), await world.ranked("Mona", "moderator")
    one = f"{PUBLICATIONS}/{'0' * 24}"
    assert await admin.refused("PATCH", one, {"suppressed": True}) == (404, "NOT_FOUND")
    assert await mona.refused("PATCH", one, {"suppressed": True}) == (403, "FORBIDDEN")
    (saved,) = await save_all(mona, "bad.example.org")
    for body in ({"reason": "x" * 501}, {"suppressed": "yes"}):
        assert await admin.refused("PATCH", f"{PUBLICATIONS}/{saved}", body) == (422, "VALIDATION_FAILED")
    assert await admin.refused("GET", f"{PUBLICATIONS}?state=GONE") == (400, "BAD_QUERY")
