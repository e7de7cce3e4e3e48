"""Networks: domains and what their DNS answers, hosts and the tokens that bring them in, what everybody sees."""

import pytest
from playwright.sync_api import Page, expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.discord.play import Guild, shown
from tests.networks.play import NETWORKS, Place, network

pytestmark = [needs_browser, pytest.mark.slow]


async def test_a_domain_is_verified_when_its_record_is_there(place: Place, look: Look) -> None:
    world = place.world
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        scene.expected.add("409 (Conflict)")
        page = scene.enter(ada, "/app/networks")
        page.get_by_label("Name").fill("Islands")
        page.get_by_role("button", name="Create network").click()
        page.get_by_role("link", name="Islands").click()
        expect(page.get_by_role("heading", name="Islands", level=1)).to_be_visible()
        page.get_by_role("link", name="Domains").click()
        page.get_by_label("Domain", exact=True).fill("islands.example.org")
        page.get_by_role("button", name="Add domain").click()
        expect(page.get_by_text("_svc.islands.example.org", exact=True)).to_be_visible()
        expect(page.get_by_text("gw.partyline.test")).to_be_visible()
        place.dns.txt["_svc.islands.example.org"] = ["svc-network=somebody-else"]
        page.get_by_role("button", name="Check now").click()
        expect(page.get_by_text("DNS answered: svc-network=somebody-else.")).to_be_visible()
        scene.stop_at(page, "network-domains")
        place.dns.txt["_svc.islands.example.org"] = [
            page.locator("dd code", has_text="svc-network").inner_text()
        ]
        page.get_by_role("button", name="Check now").click()
        expect(page.get_by_text("islands.example.org is verified.")).to_be_visible()
        expect(page.get_by_text("Not verified")).to_have_count(0)

    await play(world, look, story)


async def test_hosts_join_with_a_token_that_is_shown_once(place: Place, look: Look) -> None:
    world = place.world
    ada = await world.player("Ada")
    net = await network(ada, "Islands")
    await net.server("Lobby")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/networks/{net.id}")
        expect(page.get_by_role("link", name="Lobby")).to_be_visible()
        page.get_by_role("button", name="Make a join token").click()
        dialog = page.get_by_role("dialog")
        token = dialog.get_by_label("Shown once").input_value()
        for _ in range(3):  # a browser asks once whether it may close, and then closes it
            page.keyboard.press("Escape")
        expect(dialog).to_be_visible()
        scene.stop_at(page, "network-token")
        joined = {"joinToken": token, "name": "Node"}
        scene.let(world.nobody().do, "POST", f"{NETWORKS}/join", joined)
        dialog.get_by_role("button", name="I have kept it").click()
        expect(page.get_by_text("Node", exact=True)).to_be_visible()
        scene.stop_at(page, "network")

    await play(world, look, story)


async def test_what_a_network_shows_to_everybody(place: Place) -> None:
    world = place.world
    ada = await world.player("Ada")
    net = await network(ada, "Islands")
    share = await ada.do("POST", "/v1/profile/shares", {"name": "Islands pack", "manifest": {"mods": []}})

    def story(scene: Scene) -> None:
        scene.expected |= {"409 (Conflict)", "422 (Unprocessable"}
        page = scene.enter(ada, f"/app/networks/{net.id}/profile")
        page.get_by_label("Address of the public page").fill("No Good!")
        page.get_by_label("Launcher profile to play with").select_option("Islands pack")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_label("Address of the public page")).to_be_focused()
        page.get_by_label("Address of the public page").fill("islands")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
        shown = scene.let(world.nobody().get, "/v1/public/connect/slugs/islands")
        assert shown["profileShareCode"] == share["code"]
        scene.stop_at(page, "network-profile")
        page.get_by_role("link", name="Publication").click()
        page.get_by_label("Display name").fill("Islands of the sky")
        page.get_by_label("Address for players").fill("islands.example.org")
        page.get_by_label("Links").fill("https://islands.example.org")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Published.")).to_be_visible()
        scene.stop_at(page, "network-publication")
        for tab in ("DNS", "Discord"):
            page.get_by_role("link", name=tab, exact=True).click()
            expect(page.get_by_role("heading", name=tab).first).to_be_visible()
            scene.stop_at(page, f"network-{tab.lower()}")

    await play(world, Look("light", 1280), story)


async def test_a_webhook_goes_and_the_rest_stays(guild: Guild, look: Look) -> None:
    ada = await guild.world.player("Ada")
    net = await guild.network(ada)

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/networks/{net.id}/discord")
        forget, address = page.get_by_label("Remove the stored webhook"), page.get_by_label("Address of")
        address.fill(guild.site.url(guild.webhook))
        expect(forget).to_be_disabled()  # another takes its place
        address.fill("")
        forget.check()
        scene.stop_at(page, "network-webhook")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("No webhook", exact=True)).to_be_visible()
        expect(forget).to_have_count(0)
        kept = scene.let(shown, net)
        assert (kept["webhookStatus"], len(kept["events"])) == ("none", 5)

    await play(guild.world, look, story)


async def test_a_network_is_removed_once_nothing_is_in_it(place: Place, look: Look) -> None:
    world = place.world
    ada = await world.player("Ada")
    net = await network(ada, "Islands")
    node = await net.host()

    def remove(page: Page) -> None:
        page.get_by_role("button", name="Remove network").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("textbox").fill("Islands")
        dialog.get_by_role("button", name="Remove network").click()

    def story(scene: Scene) -> None:
        scene.expected.add("409 (Conflict)")
        page = scene.enter(ada, f"/app/networks/{net.id}")
        page.get_by_role("link", name="Danger").click()
        remove(page)
        expect(page.get_by_text("Game servers or hosts are in this network.")).to_be_visible()
        scene.stop_at(page, "network-danger")
        scene.let(ada.do, "DELETE", node.path)
        remove(page)
        expect(page.get_by_role("heading", name="Networks", level=1)).to_be_visible()
        expect(page.get_by_text("No networks yet.")).to_be_visible()
        assert scene.let(ada.get, NETWORKS)["items"] == []

    await play(world, look, story)
