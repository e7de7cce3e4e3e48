"""When the client module takes somebody for signed out, in Node: only where there is no token to be had."""

from pathlib import Path

import pytest

from tests.console.node import run_beside_client
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


RENEWED_AFTER_SIGNING_IN_AGAIN = """
import { Partyline } from "./client/partyline.js";
const [url, token, id] = process.argv.slice(2);
let opened = 0;
class Counted extends WebSocket { constructor(...all) { super(...all); opened += 1; } }
const getToken = async () => ({ token, user: { id } });
const asPage = (address, more) => {
  const headers = new Headers(more.headers);
  headers.set("Origin", url);
  return fetch(address, { ...more, headers });
};
const partyline = new Partyline({ url, getToken, fetch: asPage, WebSocket: Counted, random: () => 0 });
const { live, session } = partyline;
const isLive = () => new Promise((resolve) => {
  live.addEventListener("state", ({ detail }) => detail === "live" && resolve());
});
const first = isLive();
await partyline.restore();
live.subscribe("inbox", {});
await first;
session.end();
const second = isLive();
await partyline.signIn({ token });
await second;
await session.renew();
console.log(opened);
live.close();
"""
"""A session that has ended, the same user on the same page again, and the next fresh token."""


async def test_a_fresh_token_has_a_fresh_socket_also_after_signing_in_again(
    world: World, tmp_path: Path
) -> None:
    """Else the socket would go on with the former token until that ends."""
    ada = await world.player("Ada")
    said = await run_beside_client(
        tmp_path, RENEWED_AFTER_SIGNING_IN_AGAIN, world.url, ada.token or "", ada.id
    )
    assert said.split() == ["3"]


async def test_nothing_of_one_user_goes_on_as_another(world: World, tmp_path: Path) -> None:
    ada, ben, cat = [await world.player(name) for name in ("Ada", "Ben", "Cat")]
    room = await ada.talk_to(cat)
    said = await run_beside_client(
        tmp_path, SIGNED_IN_AS_ANOTHER, world.url, ada.token or "", ada.id, ben.token or "", ben.id, room.id
    )
    assert said.split() == ["other", "1", "0", "Unreachable"]


async def test_the_live_socket_ends_with_the_session_alone(world: World, tmp_path: Path) -> None:
    """Whoever gets a token is signed in, also where it has ended before the service looks at it."""
    ada = await world.player("Ada")
    said = await run_beside_client(tmp_path, SIGNED_IN_AGAIN, world.url, ada.token or "")
    assert said.split() == ["ended", "live", "0"]
