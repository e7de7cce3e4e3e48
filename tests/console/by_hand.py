"""Programs that use the client module with sockets in their own hand, in Node."""

from pathlib import Path

from tests.console.node import run_beside_client

PROLOGUE = """
import { Partyline } from "./client/partyline.js";
import { ByHand, settled, sockets, takeTime } from "./by_hand.mjs";
const client = (more = {}) => new Partyline({
  url: "http://127.0.0.1:1", getToken: async () => ({ token: "t" }), WebSocket: ByHand, random: () => 0, ...more,
});
const signedIn = async (more) => {
  const partyline = client(more);
  await partyline.session.renew();
  return { partyline, live: partyline.live, session: partyline.session };
};
"""


async def said_by(folder: Path, program: str) -> list[str]:
    """The lines that a program prints whose sockets are in its own hand."""
    return (await run_beside_client(folder, PROLOGUE + program)).splitlines()
