"""Numbers of game servers that are longer than JavaScript's own: nothing on the way to a form and back rounds them."""

import pytest
from playwright.sync_api import expect

from tests.console.furnished import claimed_server
from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

DESK = Look("light", 1280)
LARGEST = 2**63 - 1
SEED, OTHER_SEED = 9007199254740993, -4172144997902289642
SCHEMA = {
    "fields": [
        {"key": "motd", "label": "Greeting", "type": "string", "max": 60},
        {"key": "seed", "label": "Seed", "type": "int", "min": -LARGEST, "max": LARGEST},
        {"key": "owners", "label": "Owners", "type": "list"},
    ]
}


async def test_settings_keep_all_digits_of_their_numbers(world: World) -> None:
    """As they are with a schema, which names its own bounds, and as JSON."""
    ada = await world.player("Ada")
    formed, free = [(await claimed_server(world, ada, name))["id"] for name in ("Formed", "Free")]
    data = {"motd": "Welcome", "seed": SEED, "owners": ["a"], "beside": {"id": LARGEST, "scale": 1.0}}
    await ada.do("PUT", f"/v1/connect/servers/{formed}/settings", {"data": data, "schema": SCHEMA})
    await ada.do("PUT", f"/v1/connect/servers/{free}/settings", {"data": data})

    def stored(scene: Scene, server_id: str) -> object:
        return scene.let(ada.get, f"/v1/connect/servers/{server_id}/settings")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{formed}/settings")
        save = page.get_by_role("button", name="Save", exact=True)
        expect(page.get_by_label("Seed")).to_have_value(str(SEED))
        page.get_by_label("Greeting").fill("Hello")
        save.click()
        expect(save).to_have_count(0)
        kept = stored(scene, formed)
        assert isinstance(kept, dict)
        assert kept["data"] == {**data, "motd": "Hello"}
        assert kept["schema"]["fields"][1]["max"] == LARGEST
        page.get_by_label("Seed").fill(str(OTHER_SEED))
        save.click()
        expect(save).to_have_count(0)
        kept = stored(scene, formed)
        assert isinstance(kept, dict)
        assert kept["data"]["seed"] == OTHER_SEED
        page.get_by_text("History", exact=True).click()
        page.get_by_text("All values").first.click()
        expect(page.get_by_text(f'"seed": {OTHER_SEED}')).to_be_visible()
        page = scene.enter(ada, f"/app/servers/{free}/settings")
        text = page.get_by_label("Settings (JSON)")
        text.fill(text.input_value().replace("Welcome", "Hello"))
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)
        kept = stored(scene, free)
        assert isinstance(kept, dict)
        assert kept["data"] == {**data, "motd": "Hello"}
        assert isinstance(kept["data"]["beside"]["scale"], float)

    await play(world, DESK, story)


async def test_commands_keep_all_digits_of_their_numbers(world: World) -> None:
    ada = await world.player("Ada")
    server_id = (await claimed_server(world, ada, "Survival"))["id"]

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{server_id}/console")
        page.get_by_label("Action").fill("seed")
        page.get_by_label("Payload (JSON)").fill(f'{{"to": {SEED}}}')
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_text("Waits", exact=True)).to_be_visible()
        [command] = scene.let(ada.get, f"/v1/connect/servers/{server_id}/commands")["items"]
        assert command["payload"] == {"to": SEED}

    await play(world, DESK, story)
