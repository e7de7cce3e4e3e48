"""Home: what needs somebody, and what needs those who run the service."""

import pytest
from playwright.sync_api import expect

from tests.connect.play import claimed
from tests.console.furnished import submit_cape
from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]


async def test_what_needs_me(world: World, look: Look) -> None:
    ada, ben = await world.players("Ada", "Ben")
    await submit_cape(ben, "Dusk")
    await ben.do("POST", "/v1/social/friends/reports", {"targetId": ada.id, "reason": "shouts"})
    root = await world.super_admin()
    server = await claimed(world, root, "Survival")
    machine = server
    await machine.do("PUT", f"{server.path}/publication/status", {"online": False})
    made = await root.do("POST", f"{server.path}/commands", {"action": "restart"})
    await machine.get(f"{server.path}/commands", status="pending")
    failed = {"status": "failed", "error": "no such world"}
    await machine.do("POST", f"{server.path}/commands/{made['command']['id']}/ack", failed)
    await ben.do("POST", "/v1/social/friends/requests", {"targetId": root.id})

    def story(scene: Scene) -> None:
        page = scene.enter(root)
        expect(page.get_by_text("no such world")).to_be_visible()
        expect(page.get_by_text("All is well.")).to_be_visible()
        for title in ("Friend requests", "Capes that wait", "Reports"):
            tile = page.locator(".tile", has=page.get_by_role("heading", name=title))
            expect(tile.get_by_text("1", exact=True)).to_be_visible()
        scene.stop_at(page, "home-needs")
        # Whom nothing needs has first steps to take.
        page = scene.enter(ada)
        page.get_by_role("link", name="Claim a game server").click()
        expect(page.get_by_role("heading", name="Claim a game server")).to_be_visible()

    await play(world, look, story)
