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


SIGNED_IN_AS_ANOTHER = """
import { Partyline } from "./client/partyline.js";
const [url, ada, adaId, ben, benId, conversationId] = process.argv.slice(2);
const grants = [{ token: ada, user: { id: adaId } }, null, { token: ben, user: { id: benId } }];
const partyline = new Partyline({ url, getToken: async () => grants.shift(), random: () => 0 });
const { live, session } = partyline;
const shown = (name) => new Promise((resolve) => live.subscribe(name, { onSnapshot: resolve }));
await partyline.restore();
const first = await shown("inbox");
live.pause();
const unsent = live.send(`conversation:${conversationId}`, { content: "Ada's own words" }).catch((error) => error.name);
await partyline.restore();
session.addEventListener("other", () => console.log("other"));
await partyline.restore();
const second = await shown("inbox");
console.log(first.conversations.length, second.conversations.length, await unsent);
live.close();
"""
"""What somebody watched and had not sent yet, when another signs in to the browser."""


async def test_nothing_of_one_user_goes_on_as_another(world: World, tmp_path: Path) -> None:
    command = node()
    if command is None:
        pytest.skip("no Node with WebSockets here: apt-get install nodejs (20 or newer)")
    ada, ben, cat = [await world.player(name) for name in ("Ada", "Ben", "Cat")]
    room = await ada.talk_to(cat)
    copytree(CLIENT, tmp_path / "client")
    (tmp_path / "client/package.json").write_text('{"type": "module"}')
    (tmp_path / "another.mjs").write_text(SIGNED_IN_AS_ANOTHER)
    asked = [*command, "another.mjs", world.url, ada.token, ada.id, ben.token, ben.id, room.id]
    with patience():
        done = await trio.run_process(
            asked, cwd=tmp_path, capture_stdout=True, capture_stderr=True, check=False
        )
    assert done.stdout.decode().split() == ["other", "1", "0", "Unreachable"], done.stderr.decode()


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
