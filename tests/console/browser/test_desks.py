"""The pages of those who run gateways, news, the shop and releases."""

import pytest
from playwright.sync_api import Dialog, expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.gateways.play import GATEWAYS, gateway
from tests.networks.play import Place
from tests.shop.play import A_PRODUCT, PRODUCTS
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

IS_ASKED_ONCE_IT_IS_SHOWN = """() => ({ isAsked: new Promise((resolve) => {
  new MutationObserver((_, watch) => {
    if (!document.querySelector("ul.cards")) return;
    watch.disconnect();
    setTimeout(() => resolve(!dispatchEvent(new Event("beforeunload", { cancelable: true }))));
  }).observe(document.body, { childList: true, subtree: true });
}) })"""
"""Whether whoever leaves at the moment when the list shows its first item is asked about what is not saved."""

BUSY = {"status": 503, "code": "OVERLOADED", "message": "too much at once"}


async def test_a_gateway_drains_and_is_taken_back(place: Place, look: Look) -> None:
    root = await place.world.super_admin()
    one = await gateway(place.world)
    await one.beat(connections=40)

    def story(scene: Scene) -> None:
        page = scene.enter(root, "/app/operate/gateways")
        expect(page.get_by_text("40 connections of at most 100")).to_be_visible()
        page.get_by_role("button", name="Let it drain").click()
        page.get_by_role("dialog").get_by_role("button", name="Let it drain").click()
        expect(page.locator(".chip", has_text="Drains")).to_be_visible()
        assert scene.let(root.get, GATEWAYS)["items"][0]["status"] == "draining"
        scene.stop_at(page, "gateways")
        page.get_by_label("Choose gw").check()
        chosen = page.get_by_role("region", name="What is chosen")
        expect(chosen.get_by_role("button", name="Let it drain")).to_be_disabled()
        chosen.get_by_role("button", name="Take back").click()
        expect(page.locator(".chip", has_text="Online")).to_be_visible()
        expect(chosen).to_have_count(0)
        # Whoever takes it back from another page is told there that it was refused.
        page.get_by_role("link", name="Partyline").click()
        expect(page.get_by_role("heading", name="Gateways")).to_have_count(0)
        page.route(f"**{GATEWAYS}/*", lambda route: route.fulfill(status=503, json=BUSY))
        scene.expected.add("503 (Service Unavailable)")
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("too much at once")).to_be_visible()

    await play(place.world, look, story)


async def test_news_are_written_and_read(world: World, look: Look) -> None:
    root, ada = await world.super_admin(), await world.player("Ada")

    def story(scene: Scene) -> None:
        desk = scene.enter(root, "/app/operate/news")
        desk.get_by_text("Write an article").first.click()
        desk.get_by_label("Headline").fill("<i>Islands</i> open")
        desk.get_by_label("Text").fill("# Today\n\nCome **all**.\n\n- one\n- two\n\n```\n<b>code</b>\n```")
        asked: list[str] = []

        def stay(dialog: Dialog) -> None:
            asked.append(dialog.message)
            dialog.dismiss()

        desk.on("dialog", stay)
        desk.get_by_role("link", name="Partyline").click()
        assert asked == ["Leave without saving?"]
        leaving = desk.evaluate_handle(IS_ASKED_ONCE_IT_IS_SHOWN)
        desk.get_by_role("button", name="Publish").click()
        desk.get_by_role("link", name="<i>Islands</i> open", exact=True).wait_for()
        assert desk.evaluate("({ isAsked }) => isAsked", leaving) is False
        desk.goto("/app/operate/users")
        desk.goto("/app/operate/news")
        assert len(asked) == 1  # what is published is no longer asked about
        scene.stop_at(desk, "newsdesk")
        desk.get_by_role("link", name="Edit").click()
        expect(desk.get_by_role("heading", name="Change the article")).to_be_focused()
        desk.get_by_label("Summary").fill("They are <b>open</b>.")
        desk.get_by_label("Tags").fill("islands, sky")
        desk.get_by_role("button", name="Save", exact=True).click()
        expect(desk.get_by_text("Saved.", exact=True)).to_be_visible()
        (kept,) = scene.let(root.get, "/v1/news")["items"]
        assert (kept["summary"], kept["tags"]) == ("They are <b>open</b>.", ["islands", "sky"])
        scene.stop_at(desk, "newsdesk-change")
        desk.get_by_role("link", name="Close").click()
        expect(desk.get_by_text("Write an article")).to_be_visible()
        page = scene.enter(ada, "/app/news")
        page.get_by_role("link", name="<i>Islands</i> open").click()
        expect(page.get_by_role("heading", name="Today")).to_be_visible()
        expect(page.get_by_text("<b>code</b>")).to_be_visible()
        assert page.locator("article li").count() == 2
        scene.stop_at(page, "article")
        desk.get_by_label("Choose <i>Islands</i> open").check()
        desk.get_by_role("region", name="What is chosen").get_by_role("button", name="Archive").click()
        expect(desk.get_by_role("dialog")).to_contain_text("<i>Islands</i> open leaves lists")
        desk.get_by_role("dialog").get_by_role("button", name="Archive").click()
        expect(desk.get_by_text("Archive: done for 1.")).to_be_visible()
        assert scene.let(root.get, "/v1/news")["items"] == []

    await play(world, look, story)


async def test_what_is_bought_is_marked_as_paid(world: World, look: Look) -> None:
    root, ada = await world.super_admin(), await world.player("Ada")
    await root.do("POST", PRODUCTS, A_PRODUCT, status=201)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/shop")
        page.get_by_role("button", name="Buy").click()
        page.get_by_role("dialog").get_by_role("button", name="Buy").click()
        expect(page.get_by_text("Not paid yet")).to_be_visible()
        scene.stop_at(page, "shop")
        desk = scene.enter(root, "/app/operate/shop")
        desk.get_by_role("button", name="Mark as paid").click()
        desk.get_by_role("dialog").get_by_role("button", name="Mark as paid").click()
        expect(desk.locator(".chip", has_text="Delivered")).to_be_visible()
        scene.stop_at(desk, "shopdesk")
        page.reload()
        expect(page.get_by_text("Yours", exact=True)).to_be_visible()
        desk.get_by_label(f"Choose {A_PRODUCT['name']}").check()
        desk.get_by_role("button", name="Take off sale").click()
        on_sale = desk.get_by_role("button", name="On sale")
        expect(on_sale).to_have_attribute("aria-pressed", "false")
        desk.get_by_role("button", name="Undo").click()
        expect(on_sale).to_have_attribute("aria-pressed", "true")

    await play(world, look, story)


async def test_a_release_is_published_and_reached_by_a_channel(world: World) -> None:
    root = await world.super_admin()
    scope = {"type": "launcher", "id": "partyline"}
    address = "https://example.org/launcher.zip"
    artifact = {
        "platform": "any", "arch": "any", "fileName": "launcher.zip", "sizeBytes": 1, "url": address,
        "sha256": "0" * 64,
    }  # fmt: skip
    for version in ("1.2.0", "1.1.0", "1.0.0"):
        body = {"scope": scope, "version": version, "artifacts": [artifact]}
        await root.do("POST", "/v1/versions/releases", body)

    def story(scene: Scene) -> None:
        page = scene.enter(root, "/app/operate/versions")
        release = page.get_by_role("listitem").filter(has_text="1.2.0")
        release.get_by_role("button", name="Publish").click()
        page.get_by_role("dialog").get_by_role("button", name="Publish").click()
        page.get_by_text("Let a channel point to it").first.click()
        share = page.get_by_label("For how many clients, in percent")
        share.fill("")
        # No share is not a share of none, by which the release would be taken from all that have it.
        expect(page.get_by_role("button", name="Let a channel point to it")).to_be_disabled()
        share.fill("50")
        page.get_by_role("button", name="Let a channel point to it").click()
        expect(page.get_by_text("stable points to 1.2.0.")).to_be_visible()
        [published] = scene.let(root.get, "/v1/versions/releases", status="published")["items"]
        assert published["rollout"]["percentage"] == 50
        for version in ("1.0.0", "1.1.0"):
            page.get_by_label(f"Choose {version}").check()
        chosen = page.get_by_role("region", name="What is chosen")
        expect(chosen.get_by_role("button", name="Yank")).to_be_disabled()  # neither is published
        scene.stop_at(page, "versions")
        chosen.get_by_role("button", name="Publish").click()
        page.get_by_role("dialog").get_by_text("1.0.0").wait_for()
        page.get_by_role("dialog").get_by_role("button", name="Publish").click()
        expect(page.get_by_text("Publish: done for 2.")).to_be_visible()
        assert not scene.let(root.get, "/v1/versions/releases", status="draft")["items"]

    await play(world, Look("light", 1280), story)
