"""Desks offer what the service would do, and articles are read as they were written."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from actors.shop.provider_events import EventKind, ProviderEvent
from tests.console.stage import Look, Scene, needs_browser, play
from tests.shop.play import CATALOG, open_shop
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

AN_ARTICLE = """It *really* starts, 2*3*4 stays.
Read [the rules](https://rules.example.org/a), not [this](javascript:alert(1)).

| world | [who](mailto:a@example.org) | note |
|:--|--:|-|
| sky | <b>Ada</b> | a \\| b | left out |
| sea |
"""


def row_of(page: Page, text: str) -> Locator:
    """The purchase in a list that shows a text."""
    return page.get_by_role("listitem").filter(has_text=text)


def offered(row: Locator) -> list[str]:
    """What the buttons of a purchase say."""
    return row.get_by_role("button").all_inner_texts()


async def test_purchases_offer_what_becomes_of_them(world: World) -> None:
    shop = await open_shop(world)
    ada, bea = await world.players("Ada", "Bea")
    late, gone, back = [await shop.product(slug) for slug in ("late", "gone", "back")]
    given_up = await shop.order(ada, late)
    await ada.do("DELETE", f"/v1/shop/checkout/{given_up['checkout']['id']}", status=204)
    lost = await shop.order(ada, gone, recipientId=bea.id)
    await (await world.super_admin()).do("DELETE", f"/v1/admin/users/{bea.id}", status=204)
    await shop.told(_event("paid", EventKind.PAID, lost))
    bought = await shop.order(ada, back)
    await shop.paid(bought["purchases"][0])
    await shop.told(_event("disputed", EventKind.DISPUTED, bought))

    def story(scene: Scene) -> None:
        desk = scene.enter(shop.manager, "/app/operate/shop")
        expect(row_of(desk, "Gone").first).to_contain_text("whoever was to get it is gone")
        assert offered(row_of(desk, "Gone").first) == ["Note a refund"]
        assert offered(row_of(desk, "Back").first) == ["Note a refund"]
        assert offered(row_of(desk, "Late").first) == ["Mark as paid"]
        row_of(desk, "Late").first.get_by_role("button", name="Mark as paid").click()
        desk.get_by_role("dialog").get_by_role("button", name="Mark as paid").click()
        expect(row_of(desk, "Late").first.locator(".chip")).to_have_text("Delivered")

    await play(world, Look("light", 1280), story)


async def test_what_costs_nothing_is_made_with_a_limit(world: World) -> None:
    shop = await open_shop(world)

    def story(scene: Scene) -> None:
        scene.expected.add("422 (Unprocessable")
        desk = scene.enter(shop.manager, "/app/operate/shop")
        desk.get_by_text("Make a product that gives a right").first.click()
        for label, value in (("Name", "Gift"), ("Name in addresses", "gift"), ("Right", "perk:gift")):
            desk.get_by_label(label, exact=True).fill(value)
        desk.get_by_label("Price, in the smallest unit").fill("0")
        desk.get_by_role("button", name="Make a product that gives a right").click()
        limit = desk.get_by_label("How many one person may have")
        expect(limit).to_have_attribute("aria-invalid", "true")
        limit.fill("2")
        scene.stop_at(desk, "shopdesk-make")
        desk.get_by_role("button", name="Make a product that gives a right").click()
        expect(desk.get_by_text("Saved.", exact=True)).to_be_visible()
        assert [one["limit"] for one in scene.let(shop.manager.get, CATALOG)["items"]] == [2]

    await play(world, Look("dark", 390), story)


async def test_who_may_only_write_releases_is_told_which_right_publishes(world: World) -> None:
    writer, root = await world.player("Wes"), await world.super_admin()
    await world.grant(writer, "versions:write")
    for version, status in (("1.0.0", "published"), ("1.1.0", "draft")):
        address = "https://example.org/launcher.zip"
        file: dict[str, Any] = {"platform": "any", "arch": "any", "fileName": "launcher.zip", "sizeBytes": 1}
        body = {"scope": {"type": "launcher", "id": "main"}, "version": version, "status": status}
        files = [file | {"url": address, "sha256": "0" * 64}]
        await root.do("POST", "/v1/versions/releases", body | {"artifacts": files}, status=201)

    said = "You need the right versions:publish. A super-admin can give it to you."

    def story(scene: Scene) -> None:
        page = scene.enter(writer, "/app/operate/versions")
        publish = page.get_by_role("button", name="Publish")
        page.get_by_text("Let a channel point to it").first.click()
        for button in (publish, page.get_by_role("button", name="Let a channel point to it")):
            expect(button).to_be_disabled()
            expect(button).to_have_attribute("title", said)
        expect(page.get_by_role("button", name="Yank")).to_be_enabled()

    await play(world, Look("light", 1280), story)


async def test_tables_links_and_emphasis_of_an_article_are_drawn(world: World, look: Look) -> None:
    ada, root = await world.player("Ada"), await world.super_admin()
    article = {"scope": {"type": "global"}, "title": "Rules", "body": AN_ARTICLE, "status": "published"}
    made = await root.do("POST", "/v1/news", article, status=201)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/news/{made['id']}")
        text = page.locator(".prose")
        expect(text.locator("em")).to_have_text("really")
        expect(text.get_by_role("link", name="the rules")).to_have_attribute(
            "href", "https://rules.example.org/a"
        )
        expect(text.get_by_role("link")).to_have_count(2)
        expect(text).to_contain_text("2*3*4 stays")
        expect(text).to_contain_text("[this](javascript:alert(1))")
        assert text.get_by_role("columnheader").all_inner_texts() == ["world", "who", "note"]
        assert text.get_by_role("cell").all_inner_texts() == ["sky", "<b>Ada</b>", "a | b", "sea", "", ""]
        scene.stop_at(page, "article-table")

    await play(world, look, story)


def _event(id: str, kind: EventKind, order: Any) -> ProviderEvent:
    return ProviderEvent(id=id, kind=kind, checkout_id=order["checkout"]["id"], amount=500, currency="eur")
