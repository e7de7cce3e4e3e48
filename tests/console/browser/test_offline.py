"""Without a network: what is written waits in sight, and arrives once."""

import os

import pytest
from playwright.sync_api import expect

from tests.console.stage import Look, Scene, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

OFFLINE_SECONDS = float(os.environ.get("OFFLINE_SECONDS", "0"))
"""How much longer the network is away than it takes to write; a minute for releases."""

ASKED = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))"
"""Whether whoever closes the tab is asked."""

WRITTEN = [f"written without a network, {number}" for number in range(3)]


async def test_what_is_written_without_a_network_waits_in_sight_and_arrives_once(
    world: World, look: Look
) -> None:
    """Check 10, and check 8: two browsers, with what the other has written meanwhile."""
    ada, ben = await world.players("Ada", "Ben")
    room = await ada.talk_to(ben)

    def story(scene: Scene) -> None:
        scene.expected |= {"ERR_INTERNET_DISCONNECTED", "WebSocket connection"}
        one, other = (scene.enter(player, f"/app/chat/{room.id}") for player in (ada, ben))
        one.get_by_label("Message Ben").wait_for()
        one.context.set_offline(True)
        expect(one.get_by_text("Reconnecting…")).to_be_visible()
        for text in WRITTEN:
            one.get_by_label("Message Ben").fill(text)
            one.keyboard.press("Enter")
        expect(one.locator(".message.waiting .text")).to_have_text(WRITTEN)
        assert one.evaluate(ASKED), "closing the tab would lose them"
        scene.let(ben.say, room, "written meanwhile")
        expect(other.get_by_role("log").get_by_text("written meanwhile")).to_be_visible()
        one.wait_for_timeout(OFFLINE_SECONDS * 1000)
        expect(one.locator(".message.waiting .text")).to_have_text(WRITTEN)
        assert one.get_by_text("written meanwhile").count() == 0
        one.context.set_offline(False)
        for page in (one, other):
            texts = page.get_by_role("log").locator(".message:not(.waiting) .text")
            expect(texts).to_have_text(["written meanwhile", *WRITTEN])
        assert not one.evaluate(ASKED)
        kept = scene.let(ben.get, room.messages)["items"]
        assert sorted(item["content"] for item in kept) == sorted(["written meanwhile", *WRITTEN])

    await play(world, look, story)
