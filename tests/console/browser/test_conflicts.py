"""What somebody else saves while a form is open: it stands beside one's own, and nothing of it is overwritten."""

from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page, expect

from scripts.upstreams.discord import GUILD
from tests.connect.play import claimed
from tests.console.stage import Look, Scene, needs_browser, play
from tests.console.sweep import go
from tests.networks.cloudflare import CANARY, ZONE
from tests.networks.play import Place, network
from tests.news.play import NEWS
from tests.news.play import write as write_article
from tests.support.world import Player

pytestmark = [needs_browser, pytest.mark.slow]


class Form(NamedTuple):
    """A form, and where it saves.

    Args:
        page, path: of the form, and of what it saves with `method`.
        theirs: what somebody else saves; `label` is the field in which it is shown beside one's own.
        mine: the field that is changed here, and what it is then.
        is_shown: whether the service ever says again what that field was.
    """

    page: str
    method: str
    path: str
    theirs: dict[str, object]
    label: str
    mine: tuple[str, str]
    is_shown: bool = True


def publication(page: str, path: str) -> Form:
    theirs = {"displayName": "Theirs", "address": "play.example.org", "category": "survival"}
    return Form(page, "PUT", f"/v1/connect/publications/{path}", theirs, "Category", ("Display name", "Mine"))


async def forms_of(ada: Player) -> list[Form]:
    server, sky = await claimed(ada.world, ada, "Survival"), await network(ada)
    at = f"/app/networks/{sky.id}"
    forms = [
        publication(f"/app/servers/{server.id}/publication", f"server/{server.id}"),
        publication(f"{at}/publication", f"network/{sky.id}"),
        Form(
            f"{at}/profile",
            "PATCH",
            sky.path,
            {"publicSummary": "Theirs"},
            "Summary",
            ("Address of the public page", "mine-1"),
        ),
        Form(
            "/app/profile",
            "PATCH",
            "/v1/profile/settings",
            {"privacy": {"groupInvites": "NOBODY"}},
            "Who may add you to groups",
            ("Who sees your list of servers", "PRIVATE"),
        ),
        Form(
            f"{at}/discord",
            "PUT",
            f"{sky.path}/discord",
            {"guildId": GUILD, "events": ["news_published"]},
            "A server came online",
            ("Invite link for players", "https://discord.gg/mine"),
        ),
        Form(
            f"{at}/dns",
            "PUT",
            f"{sky.path}/dns/cloudflare",
            {"apiToken": CANARY, "zoneId": OTHER_ZONE},
            "Id of the zone",
            ("API token", CANARY),
            is_shown=False,
        ),
    ]
    await ada.world.grant(ada, "news:write")
    article = await write_article(ada)
    forms.append(
        Form(
            f"/app/operate/news?article={article['id']}",
            "PATCH",
            f"{NEWS}/{article['id']}",
            {"category": "theirs"},
            "Category",
            ("Headline", "Mine"),
        )
    )
    for form in forms:
        await ada.do(form.method, form.path, before(form))
    return forms


OTHER_ZONE = "f" * 32
THEIRS = {
    "Category": "survival",
    "Summary": "Theirs",
    "Who may add you to groups": "NOBODY",
    "A server came online": "['news_published']",
    "Id of the zone": OTHER_ZONE,
}


async def test_what_somebody_else_has_saved_stands_beside_one_s_own(place: Place, look: Look) -> None:
    world = place.world
    place.cloudflare.zones[OTHER_ZONE], place.cloudflare.records[OTHER_ZONE] = "example.net", []
    ada = await world.player("Ada")
    forms = await forms_of(ada)

    def story(scene: Scene) -> None:
        scene.expected.add("409 (Conflict)")
        page = scene.enter(ada)
        for form in forms:
            go(page, form.page)
            label, text = form.mine
            meets_theirs(scene, page, form)
            page.get_by_role("button", name="Take theirs, drop mine").click()
            expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)
            scene.let(ada.do, form.method, form.path, before(form))
            page.reload()
            meets_theirs(scene, page, form)
            scene.stop_at(page, f"conflict-{forms.index(form)}")
            page.get_by_role("button", name="Keep mine, take the rest").click()
            expect(page.get_by_label(label, exact=True)).to_have_value(text)
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)
            stored = repr(scene.let(ada.get, form.path))
            assert (text in stored) is form.is_shown
            assert str(form.theirs.get("category", THEIRS[form.label])) in stored

    def meets_theirs(scene: Scene, page: Page, form: Form) -> None:
        label, text = form.mine
        write(page, label, text)
        scene.let(ada.do, form.method, form.path, form.theirs)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Somebody has saved something else meanwhile.")).to_be_visible()
        field = page.locator(".field").filter(has=page.get_by_label(form.label, exact=True))
        expect(field).to_contain_text("Somebody else has saved: ")
        expect(page.get_by_label(label, exact=True)).to_have_value(text)

    await play(world, look, story)


def before(form: Form) -> dict[str, Any]:
    """What undoes what somebody else has saved."""
    if "privacy" in form.theirs:
        return {"privacy": {"groupInvites": "EVERYONE"}}
    if form.path.startswith(NEWS):
        return {"category": None, "title": "Before"}
    if form.method == "PATCH":
        return {"publicSummary": None}
    if "guildId" in form.theirs:
        return {**form.theirs, "events": ["server_online"]}
    if "zoneId" in form.theirs:
        return {**form.theirs, "zoneId": ZONE}
    return {**form.theirs, "displayName": "Before", "category": "pvp"}


def write(page: Page, label: str, text: str) -> None:
    control = page.get_by_label(label, exact=True)
    if control.evaluate("(one) => one.localName") == "select":
        control.select_option(text)
    else:
        control.fill(text)
