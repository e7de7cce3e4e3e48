"""Wire: accounts at other issuers are linked by who is signed in, in their own browser, and by nobody else."""

from pathlib import Path

from tests.sessions.issuer import Issuer
from tests.sessions.place import IDENTITIES, Place, placed
from tests.sessions.play import SESSIONS, Browser, signed_in
from tests.support.canaries import dump, found
from tests.users.play import erase


async def linked(place: Place, browser: Browser, subject: str, issuer: Issuer | None = None) -> str:
    """Link an account; returns where the browser is led to."""
    issuer = issuer or place.good
    name = issuer.name.lower().replace(" ", "-")
    asked = await browser.do("POST", IDENTITIES, {"issuer": name})
    return await place.comes_back(browser, issuer.signed_in(asked["url"], subject))


async def test_linking_an_account_and_signing_in_with_it(place: Place) -> None:
    ann = await signed_in(await place.world.player("Ann"))
    assert await linked(place, ann, "4711") == "/app#linked"
    assert await linked(place, ann, "4711") == "/app#linked"
    assert (await place.user("4711")).id == ann.id


async def test_an_account_is_linked_with_one_user(place: Place) -> None:
    await place.user("4711")
    ann, ben = [await signed_in(one) for one in await place.world.players("Ann", "Ben")]
    assert await linked(place, ann, "4711") == "/app/sign-in#error=taken"
    assert await linked(place, ann, ben.id) == "/app/sign-in#error=taken"
    assert (await ann.get(IDENTITIES))["items"] == []


async def test_a_stolen_token_links_nothing(place: Place) -> None:
    ann = await signed_in(await place.world.player("Ann"))
    thief, by_token = Browser(place.world), Browser(place.world)
    thief.holds({"token": ann.token, "user": {"id": ann.id, "name": ann.name}})
    body = {"issuer": "good-games"}
    assert await thief.refused("POST", IDENTITIES, body) == (403, "FORBIDDEN")
    await by_token.enter_as(await place.world.player("Ben"))
    assert await by_token.refused("POST", IDENTITIES, body) == (403, "FORBIDDEN")
    assert await ann.refused("POST", IDENTITIES, {"issuer": "nobody"}) == (404, "NOT_FOUND")
    other_page = await ann.ask("POST", IDENTITIES, body, headers={"sec-fetch-site": "cross-site"})
    assert other_page.status_code == 403


async def test_linking_ends_with_the_session_in_which_it_was_begun(place: Place) -> None:
    ann = await signed_in(await place.world.player("Ann"))
    asked = await ann.do("POST", IDENTITIES, {"issuer": "good-games"})
    other = await signed_in(ann)
    await other.do("DELETE", SESSIONS, status=204)
    address = place.good.signed_in(asked["url"], "4711")
    assert await place.comes_back(ann, address) == "/app/sign-in#error=expired"
    assert (await other.get(IDENTITIES))["items"] == []


async def test_removing_an_account_ends_its_sessions_and_the_last_one_stays(place: Place) -> None:
    ann = await place.user("4711")
    (first,) = (await ann.get(IDENTITIES))["items"]
    path = f"{IDENTITIES}/{first['id']}"
    assert await ann.refused("DELETE", path) == (409, "INVALID_STATE")
    assert await linked(place, ann, "4712", place.other) == "/app#linked"
    ben = await place.user("4713")
    assert await ben.refused("DELETE", path) == (404, "NOT_FOUND")
    kept = await signed_in(ann)
    await kept.do("DELETE", path, status=204)
    assert (await ann.is_out(), await kept.is_out()) == (True, False)
    assert (await place.user("4711")).id != ann.id
    root = await place.world.super_admin()
    assert (await root.get("/v1/admin/audit", actorId=ann.id))["items"] == []


async def test_an_erased_users_account_begins_anew(place: Place) -> None:
    ann = await place.user("canary-subject", name="Quintessa")
    await erase(place.world, ann)
    assert await ann.is_out()
    assert found(["canary-subject", "Quintessa"], await place.world.service.database.read(dump)) == []
    place.world.advance(2000)
    assert (await place.user("canary-subject", name="Ada")).id != ann.id


async def test_who_may_not_vouch_for_super_admins_links_nobody_who_may(
    database_url: str, tmp_path: Path
) -> None:
    """Whoever holds the keys of such an issuer links an account of their own, at one that is trusted."""
    trail = "/v1/admin/audit"
    async with placed(database_url, tmp_path, superAdmins=True) as place:
        root = await place.world.ranked("Root", "super-admin")
        browser = Browser(place.world)
        address = place.other.signed_in(await place.goes(browser, "/app/sign-in/other"), root.id)
        assert await place.comes_back(browser, address) == "/app"
        await browser.renew()
        assert await linked(place, browser, "4711") == "/app#linked"
        thief = await place.user("4711")
        assert thief.id == root.id
        assert await thief.refused("GET", trail) == (403, "FORBIDDEN")
        # Nor does one that they link with it; the issuer's own word for who somebody is stands.
        assert await linked(place, thief, "4712") == "/app#linked"
        assert await (await place.user("4712")).refused("GET", trail) == (403, "FORBIDDEN")
        assert await linked(place, thief, root.id) == "/app#linked"
        trusted = await place.user(root.id)
        assert await trusted.get(trail)
        # Who is trusted may say that the account is theirs.
        assert await linked(place, trusted, "4711") == "/app#linked"
        assert await linked(place, thief, "4711") == "/app#linked"
        assert await (await place.user("4711")).get(trail)
