"""Capes and totems, from a file to being worn."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Route, expect

from tests.console.furnished import submit_cape, texture
from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World
from tests.totems.models import blockbench, png, url

pytestmark = [needs_browser, pytest.mark.slow]

PAINT = "(canvas) => canvas.toDataURL()"
"""What a canvas shows, to see that it is something else than before."""

SIDES = ("north", "south", "west", "east", "up", "down")


def file(name: str, content: bytes, media_type: str = "application/json") -> FilePayload:
    return {"name": name, "mimeType": media_type, "buffer": content}


def drawing() -> bytes:
    """A model of two boxes, one of them turned."""
    faces = {side: {"texture": "#skin", "uv": [0, 0, 16, 16]} for side in SIDES}
    rotation = {"origin": [8, 8, 8], "axis": "z", "angle": 45}
    elements = [
        {"from": [4, 0, 4], "to": [12, 8, 12], "faces": faces},
        {"from": [6, 8, 6], "to": [10, 14, 10], "faces": faces, "rotation": rotation},
    ]
    return json.dumps({"textures": {"skin": url(png())}, "elements": elements}).encode()


async def test_a_totem_from_its_file_to_somebody_else(world: World, look: Look) -> None:
    ada, ben = await world.players("Ada", "Ben")

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/totem")
        page.get_by_label("Model", exact=True).set_input_files(file("notes.json", b"[1]"))
        expect(page.get_by_text("This file is no model.")).to_be_visible()
        page.get_by_label("Model", exact=True).set_input_files(file("mushroom.json", drawing()))
        expect(page.get_by_role("img", name="The totem mushroom.json")).to_be_visible()
        page.get_by_label("Author", exact=True).fill("The Carver")
        page.get_by_role("button", name="Upload and carry").click()
        expect(page.get_by_text("Uploaded. You carry it now.")).to_be_visible()
        page.get_by_role("button", name="Turn right").click()
        scene.stop_at(page, "totem")
        other = scene.enter(ben, "/app/totem")
        other.get_by_role("button", name="Look at mushroom.json").click()
        expect(other.get_by_role("img", name="The totem mushroom.json")).to_be_visible()
        other.get_by_role("button", name="Carry: ").click()
        expect(other.get_by_text("You carry mushroom.json now.")).to_be_visible()
        assert scene.let(ben.get, "/v1/profile/personal-totem")["fileName"] == "mushroom.json"

    await play(world, look, story)


async def test_what_is_drawn_of_a_model(world: World) -> None:
    """Both formats put paint on the canvas; a model that is refused says why at its file."""
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        scene.expected.add("422 (Unprocessable")
        page = scene.enter(ada, "/app/totem")
        painted = """canvas => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
            .data.filter((part, at) => at % 4 === 3 && part > 0).length"""
        for name, content in (("a.json", drawing()), ("b.bbmodel", json.dumps(blockbench()).encode())):
            page.get_by_label("Model", exact=True).set_input_files(file(name, content))
            canvas = page.get_by_role("img", name=f"The totem {name}")
            expect(canvas).to_be_visible()
            assert canvas.evaluate(painted) > 5_000
        page.get_by_label("Model", exact=True).set_input_files(
            file("c.json", b'{"textures": {}, "elements": []}')
        )
        expect(page.get_by_text("This model cannot be drawn here.")).to_be_visible()
        page.get_by_role("button", name="Upload and carry").click()
        expect(page.get_by_label("Model", exact=True)).to_be_focused()

    await play(world, Look("light", 1280), story)


async def test_a_cape_from_its_file_to_being_worn(world: World, look: Look, tmp_path: Path) -> None:
    """Check 18: drawn on the template, chosen as a person chooses a file, seen from both sides, judged by one key, told
    at once, and worn."""
    ada = await world.player("Ada")
    mona = await world.ranked("Mona", "moderator")
    picture = tmp_path / "dusk.png"

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/capes")
        with page.expect_download() as template:
            page.get_by_role("button", name="Save a template to draw on").click()
        template.value.save_as(picture)
        with page.expect_file_chooser() as chooser:
            page.get_by_label("Texture").click()
        chooser.value.set_files(picture)
        canvas = page.get_by_role("img", name="The cape on a figure")
        front = canvas.evaluate(PAINT)
        for _ in range(12):
            page.get_by_role("button", name="Turn right").click()
        assert canvas.evaluate(PAINT) != front
        page.get_by_label("Name", exact=True).fill("Dusk")
        page.get_by_role("button", name="Upload a cape").click()
        page.get_by_role("button", name="Submit: Dusk").click()
        page.get_by_role("dialog").get_by_role("button", name="Accept the terms").click()
        expect(page.get_by_text("Waits for a moderator")).to_be_visible()
        judge = scene.enter(mona, "/app/operate/capes")
        expect(judge.get_by_text("Dusk")).to_be_visible()
        judge.keyboard.press("1")
        expect(judge.get_by_text("is approved.")).to_be_visible()
        expect(page.get_by_text("A moderator has judged your cape Dusk.")).to_be_visible()
        page.get_by_role("button", name="Wear").first.click()
        expect(page.get_by_role("button", name="Worn").first).to_be_visible()
        scene.stop_at(page, "cape-worn")

    await play(world, look, story)


async def test_more_capes_than_a_page_shows_are_judged_at_once(world: World) -> None:
    """What waits beyond the first page comes when that one is judged; one verdict can be taken back for all."""
    ada, mona = await world.player("Ada"), await world.ranked("Mona", "moderator")
    for name in ("Dusk", "Dawn", "Noon"):
        await submit_cape(ada, name)

    def two_at_once(route: Route) -> None:
        route.continue_(url=route.request.url.replace("limit=50", "limit=2"))

    def story(scene: Scene) -> None:
        page = scene.arrive(mona.token or "")
        page.route("**/v1/admin/capes?*", two_at_once)
        page.goto("/app/operate/capes")
        page.get_by_label("Choose all 2 that are shown").check()
        page.get_by_role("region", name="What is chosen").get_by_role("button", name="Approve").click()
        expect(page.get_by_text("Approve: done for 2.")).to_be_visible()
        queue = page.get_by_role("list", name="Capes")
        expect(queue.get_by_role("listitem")).to_have_count(1)
        page.get_by_role("button", name="Undo").click()
        expect(queue.get_by_role("listitem")).to_have_count(2)
        assert scene.let(mona.get, "/v1/admin/capes", status="pending")["total"] == 3

    await play(world, Look("light", 1280), story)


async def test_a_cape_is_seen_on_a_figure_and_changed(world: World) -> None:
    ada = await world.player("Ada")
    await ada.do("POST", "/v1/profile/capes", {"name": "Dusk", "texture": {"dataUrl": texture()}})

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/capes")
        page.get_by_role("button", name="Edit: Dusk").click()
        editor = page.get_by_role("form", name="Edit Dusk")
        editor.get_by_label("Name").fill("Dawn")
        editor.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Dawn", exact=True)).to_be_visible()
        page.get_by_label("Texture").set_input_files(file("cape.png", png(64, 32), "image/png"))
        expect(page.get_by_role("img", name="The cape on a figure")).to_be_visible()
        scene.stop_at(page, "cape-figure")

    await play(world, Look("dark", 390), story)
