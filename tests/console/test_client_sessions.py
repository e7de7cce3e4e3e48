"""When the client module takes somebody for signed out, in Node: only where there is no token to be had."""

from pathlib import Path
from shutil import copytree

import pytest
import trio

from tests.console.node import CLIENT, node
from tests.support.waiting import patience
from tests.support.world import World

pytestmark = pytest.mark.slow

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
