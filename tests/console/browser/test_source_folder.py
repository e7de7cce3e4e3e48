"""Check 29: whoever works on the console edits a file and reloads; no tool is run."""

from pathlib import Path
from shutil import copytree

import pytest
from playwright.sync_api import expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.contract.sources import ROOT
from tests.support.world import open_world

pytestmark = [needs_browser, pytest.mark.slow]


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


async def test_an_edited_word_and_an_edited_page_are_there_after_a_reload(
    database_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "static"
    copytree(ROOT / "routes/console/static", folder)
    async with open_world(database_url, tmp_path, console_source=str(folder)) as world:
        ada = await world.player("Ada")

        def story(scene: Scene) -> None:
            page = scene.enter(ada, "/app/friends")
            expect(page.get_by_role("heading", name="Friends", level=1)).to_be_visible()
            edit(folder / "text/en.json", '"friends.title": "Friends"', '"friends.title": "Companions"')
            edit(folder / "pages/friends.js", '<h1 tabindex="-1">', '<h1 tabindex="-1" class="edited">')
            page.reload()
            expect(page.locator("h1.edited")).to_have_text("Companions")

        await play(world, Look("light", 1280), story)
