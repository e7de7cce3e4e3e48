"""The example of docs/client.md, run as it is written: in Node, and in a browser."""

import json
import re
import subprocess
from pathlib import Path
from shutil import copytree, which

import pytest
import trio

from tests.console.stage import Look, Scene, needs_browser, play
from tests.contract.sources import ROOT
from tests.support.waiting import patience
from tests.support.world import World

pytestmark = pytest.mark.slow

CLIENT = ROOT / "routes/console/static/client"
LINES = ("Ada talks in", "connection: live", "Ada: hello", "422 VALIDATION_FAILED", "hello")
"""What the example prints, among other things."""


def example() -> str:
    found = re.search(r"^```js\n(.*?)^```$", (ROOT / "docs/client.md").read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def node() -> list[str] | None:
    """How Node is called so that it has WebSockets: from 22 on as it is, 20 and 21 with a flag."""
    path = which("node")
    if path is None:
        return None
    version = int(
        subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
        .stdout[1:]
        .split(".")[0]
    )
    return None if version < 20 else [path] if version >= 22 else [path, "--experimental-websocket"]


SIGNED_IN_AGAIN = """
import { Partyline } from "./client/partyline.js";
const [url, token] = process.argv.slice(2);
const ended = token.slice(0, -8) + "AAAAAAAA";
const grants = [ended, ended, ended, null, token].map((one) => one && { token: one });
const getToken = async () => grants.shift();
const partyline = new Partyline({ url, getToken, random: () => 0 });
const told = new Promise((resolve) => {
  const hear = () => resolve(partyline.live.state);
  partyline.live.subscribe("inbox", { onSnapshot: hear });
  partyline.session.addEventListener("end", () => { console.log("ended"); setTimeout(() => partyline.restore()); });
});
await partyline.restore();
partyline.live.resume();
console.log(await told, grants.length);
partyline.live.close();
"""
"""Three tokens that no server takes, a session that has ended, and somebody who signs in again."""


async def test_the_live_socket_ends_with_the_session_alone(world: World, tmp_path: Path) -> None:
    """Whoever gets a token is signed in, also where it has ended before the service looks at it."""
    command = node()
    if command is None:
        pytest.skip("no Node with WebSockets here: apt-get install nodejs (20 or newer)")
    ada = await world.player("Ada")
    copytree(CLIENT, tmp_path / "client")
    (tmp_path / "client/package.json").write_text('{"type": "module"}')
    (tmp_path / "again.mjs").write_text(SIGNED_IN_AGAIN)
    asked = [*command, "again.mjs", world.url, ada.token or ""]
    with patience():
        done = await trio.run_process(
            asked, cwd=tmp_path, capture_stdout=True, capture_stderr=True, check=False
        )
    assert done.stdout.decode().split() == ["ended", "live", "0"], done.stderr.decode()


async def test_in_node(world: World, tmp_path: Path) -> None:
    command = node()
    if command is None:
        pytest.skip("no Node with WebSockets here: apt-get install nodejs (20 or newer)")
    ada, ben = await world.players("Ada", "Ben")
    copytree(CLIENT, tmp_path / "client")
    (tmp_path / "client/package.json").write_text('{"type": "module"}')
    (tmp_path / "talk.mjs").write_text(example())
    with patience():
        done = await trio.run_process(
            [*command, "talk.mjs", world.url, ada.token or "", ben.id],
            cwd=tmp_path,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    said = done.stdout.decode()
    assert done.returncode == 0, said + done.stderr.decode()
    assert [line for line in LINES if line not in said] == []


@needs_browser
async def test_in_a_browser(world: World) -> None:
    """On a page without a policy; the import at the top is made one that may stand anywhere."""
    ada, ben = await world.players("Ada", "Ben")
    body = example().replace(
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
