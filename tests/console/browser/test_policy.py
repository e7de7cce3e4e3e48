"""Check 26: what the document's policy refuses, in a real browser: code of texts, markup of texts, and frames."""

import pytest

from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

DESK = Look("light", 1280)

TRIED = """() => new Promise((resolve) => {
    // A debugger may do more than a page: only what runs later runs as the page does.
    setTimeout(() => resolve([
        () => eval("1"),
        () => new Function("return 1")(),
        () => { document.body.innerHTML = "<b>x</b>"; },
        () => { document.body.insertAdjacentHTML("beforeend", "<b>x</b>"); },
        () => { document.createElement("script").text = "1"; },
        () => { document.createElement("script").src = "/app/assets/x.js"; },
        () => { trustedTypes.createPolicy("own", { createHTML: (text) => text }); },
        () => new Worker("/client/partyline.js"),
    ].map((act) => { try { act(); return "done"; } catch (error) { return error.name; } })));
})"""


async def test_nothing_runs_but_the_modules(world: World) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        scene.expected |= {
            "TrustedHTML",
            "TrustedScript",
            "Trusted Type",
            "unsafe-eval",
            "Content Security",
            "Refused",
        }
        page = scene.enter(ada)
        assert set(page.evaluate(TRIED)) <= {"TypeError", "EvalError"}

    await play(world, DESK, story)


async def test_in_a_frame_it_stays_empty(world: World) -> None:
    ada = await world.player("Ada")

    def story(scene: Scene) -> None:
        scene.expected.add("frame-ancestors")
        around = scene.page_in(scene.enter(ada).context)
        with around.expect_console_message(lambda line: "frame-ancestors 'none'" in line.text):
            around.set_content(f'<iframe src="{world.url}/app"></iframe>')
        assert [frame.url for frame in around.frames[1:]] == ["chrome-error://chromewebdata/"]

    await play(world, DESK, story)
