"""The examples of docs/client.md, run as they are written, in Node and in a browser; and their types."""

import json
import re
import subprocess
from pathlib import Path
from shutil import copytree

import pytest

from scripts.others.node import FOLDER, NoNode, install
from tests.console.node import CLIENT, run_beside_client
from tests.console.stage import Look, Scene, needs_browser, play
from tests.contract.sources import ROOT
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.world import World

COMPILER = "typescript@7.0.2"
LINES = ("Ada talks in", "connection: live", "Ada: hello", "422 VALIDATION_FAILED", "hello")
"""What the longer example prints, among other things."""

USES = """
import { Partyline, Problem, type Grant } from "./client/partyline.js";

const partyline = new Partyline({ url: "https://x", getToken: async (): Promise<Grant | null> => null });
const { id } = await partyline.rest.get<{ id: string }>("/v1/things", { limit: 5, tags: ["a"], cursor: undefined });
const subscription = partyline.live.subscribe<{ items: string[] }>("inbox", {
  mode: "delta",
  onSnapshot: ({ items }) => items.length,
  onEnd: (error) => error.about("/content")?.length,
});
for await (const one of partyline.rest.items<{ name: string }>(`/v1/things/${id}`)) one.name.trim();
if (new Error() instanceof Problem) subscription.close();
// @ts-expect-error: a mode is one of two words
partyline.live.subscribe("inbox", { mode: "all" });
// @ts-expect-error: a path is a text
await partyline.rest.get(5);
// @ts-expect-error: a client makes its own
new (partyline.live.constructor as typeof import("./client/partyline.js").Live)();
"""
"""What a program in TypeScript may write, and what it may not."""

KEPT = {"command", "moveTo", "isOn", "take", "postpone", "forget", "end", "reconnect", "stop"}
"""Methods that the modules call of each other, and nobody else."""


def examples() -> dict[str, str]:
    """The programs of the page, by their headings."""
    page = (ROOT / "docs/client.md").read_text()
    return dict(
        re.findall(r"^## ([^\n]*)\n(?:(?!^## ).)*?^```js\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    )


def members(text: str, name: str) -> set[str]:
    """What a class has that is not private, in JavaScript or in its types."""
    found = re.search(rf"^export class {name}\b.*?^}}$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    line = r"^  (?:readonly |async |get )*\*?(\w+)(?:<[^>]*>)?\??(?:\(| = |: )"
    assigned = re.findall(r"^    this\.(\w+) = ", found[0], re.MULTILINE)
    return {*re.findall(line, found[0], re.MULTILINE), *assigned} - {"constructor", "return"}


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("partyline", "Partyline"),
        ("session", "Session"),
        ("rest", "Rest"),
        ("live", "Live"),
        ("subscription", "Subscription"),
        ("problem", "Problem"),
        ("problem", "Unreachable"),
    ],
)
def test_types_have_what_the_module_has(file: str, name: str) -> None:
    declared = members((CLIENT / "partyline.d.ts").read_text(), name)
    made = members((CLIENT / f"{file}.js").read_text(), name)
    kept = KEPT if name in ("Live", "Subscription") else set()
    assert declared == made - kept - {"name"}


@pytest.mark.slow
def test_a_compiler_takes_the_types(tmp_path: Path) -> None:
    try:
        install(COMPILER)
    except NoNode as lacking:
        pytest.skip(f"no compiler of TypeScript here: {lacking}")
    copytree(CLIENT, tmp_path / "client")
    (tmp_path / "uses.mts").write_text(USES)
    options = [
        "--strict",
        "--noEmit",
        "--module",
        "nodenext",
        "--target",
        "es2023",
        "--lib",
        "es2023,dom,dom.iterable",
    ]
    program = (FOLDER / "node_modules/typescript/bin/tsc").resolve()
    done = subprocess.run(
        ["node", str(program), *options, "uses.mts"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.slow
@pytest.mark.parametrize(("heading", "lines"), [("Ten lines", ("Ada: hello",)), ("Forty lines", LINES)])
async def test_in_node(world: World, tmp_path: Path, heading: str, lines: tuple[str, ...]) -> None:
    ada, ben = await world.players("Ada", "Ben")
    said = await run_beside_client(tmp_path, examples()[heading], world.url, ada.token or "", ben.id)
    assert [line for line in lines if line not in said] == []


RECORDED = """
import { Partyline } from "./client/partyline.js";

class Recorder {
  constructor() {
    this.readyState = 0;
    setTimeout(() => { this.readyState = 1; this.onopen(); live.close(); });
  }
  send(text) { console.log(JSON.parse(text).op); }
  close() {}
}
const { live } = new Partyline({ url: "http://127.0.0.1", token: "t", WebSocket: Recorder });
live.send("conversation:1", { content: "hello" }).catch(() => console.log("not answered"));
live.subscribe("conversation:1", {});
"""


@pytest.mark.slow
async def test_channels_begin_before_what_was_said_early(tmp_path: Path) -> None:
    """So that what a message does comes as an event, and is not in the first snapshot."""
    said = await run_beside_client(tmp_path, RECORDED)
    assert said.split("\n") == ["subscribe", "send", "not answered", ""]


@pytest.mark.one_node(because="a page is of one address, and each node of a world has its own")
@pytest.mark.slow
@needs_browser
async def test_in_a_browser(world: World) -> None:
    """On a page without a policy; the import at the top is made one that may stand anywhere."""
    ada, ben = await world.players("Ada", "Ben")
    body = examples()["Forty lines"].replace(
        'import { Partyline, Problem } from "./client/partyline.js";',
        'const { Partyline, Problem } = await import("/client/partyline.js");',
    )
    arguments = json.dumps(["", "", world.url, ada.token, ben.id])

    def story(scene: Scene) -> None:
        scene.expected.add("422 (Unprocessable")
        page = scene.stranger()
        said: list[str] = []
        page.on("console", lambda line: said.append(line.text))
        page.goto("/health")
        page.evaluate(f"async () => {{ const process = {{ argv: {arguments} }}; {body} }}")
        assert [line for line in LINES if not any(line in one for one in said)] == []

    await play(world, Look("light", 1280), story)
