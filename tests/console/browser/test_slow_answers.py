"""Answers that come when the person has gone on: what was asked for is done, and nobody is pulled back."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.console.furnished import befriend, claimed_server
from tests.console.stage import Look, Scene, holding, needs_browser, play
from tests.support.world import World

pytestmark = [needs_browser, pytest.mark.slow]

DESK = Look("light", 1280)


def gone_on(page: Page, pattern: str, button: Locator) -> None:
    """Press a button, go to the quests before its answer is there, and stay there when it comes."""
    held = holding(page, pattern)
    with page.expect_request(pattern) as asked:
        button.click()
    page.get_by_role("link", name="Daily quests").click()
    expect(page).to_have_url(re.compile("/app/quests$"))
    held.pop().continue_()
    answer = asked.value.response()
    assert answer is not None
    assert answer.ok
    answer.finished()
    page.unroute(pattern)
    page.evaluate("async () => { for (let n = 0; n < 5; n++) await new Promise(requestAnimationFrame); }")
    expect(page).to_have_url(re.compile("/app/quests$"))


async def test_nobody_is_pulled_back_by_a_slow_answer(world: World) -> None:
    ada, ben = await world.players("Ada", "Ben")
    await befriend(ada, ben)
    await claimed_server(world, ada, "Survival")
    body = {"serverType": "paper", "serverName": "Creative"}
    claimed = await world.nobody().do("POST", "/v1/connect/servers/register", body, status=201)
    offered = (await claimed_server(world, ben, "Offered"))["id"]
    offer = {"inviteeUserId": ada.id, "role": "viewer"}
    await ben.do("POST", f"/v1/connect/servers/{offered}/invites", offer)
    await ben.do("POST", "/v1/social/party")
    await ben.do("POST", "/v1/social/party/invites", {"targetId": ada.id})

    def story(scene: Scene) -> None:
        page = scene.enter(ada, "/app/friends")
        conversations = "**/v1/social/chat/conversations"
        gone_on(page, conversations, page.get_by_role("button", name="Write: Ben"))
        page.goto(f"/app/people/{ben.id}")
        gone_on(page, conversations, page.get_by_role("button", name="Write", exact=True))
        page.goto("/app/chat")
        page.get_by_role("button", name="New", exact=True).click()
        page.get_by_role("checkbox", name="Ben").check()
        gone_on(page, conversations, page.get_by_role("button", name="Begin"))
        page.goto("/app")
        gone_on(page, "**/server-invites/*/accept", page.get_by_role("button", name="Accept: Offered"))
        page.goto("/app/party")
        gone_on(page, "**/v1/social/party/invites/*/accept", page.get_by_role("button", name="Join: Ben"))
        page.goto("/app/servers/claim")
        page.get_by_label("Claim key").fill(claimed["claimKey"])
        gone_on(page, "**/v1/connect/servers/claim", page.get_by_role("button", name="Claim", exact=True))

    await play(world, DESK, story)


async def test_whoever_deletes_a_server_and_goes_on_stays_there(world: World) -> None:
    """Within its tabs there is nothing to stay at."""
    ada = await world.player("Ada")
    first, second = [(await claimed_server(world, ada, name))["id"] for name in ("First", "Second")]

    def story(scene: Scene) -> None:
        page = scene.enter(ada, f"/app/servers/{first}/danger")
        question = page.get_by_role("dialog")
        page.get_by_role("button", name="Remove server").click()
        question.get_by_role("textbox").fill("First")
        gone_on(page, f"**/v1/connect/servers/{first}", question.get_by_role("button", name="Remove server"))
        page.goto(f"/app/servers/{second}/danger")
        page.get_by_role("button", name="Remove server").click()
        question.get_by_role("textbox").fill("Second")
        question.get_by_role("button", name="Remove server").click()
        expect(page).to_have_url(re.compile("/app/servers$"))

    await play(world, DESK, story)


async def test_a_command_whose_answer_is_lost_is_sent_once(world: World) -> None:
    """Whoever is told that the service cannot be reached sends it again: it has happened already."""
    ada = await world.player("Ada")
    server_id = (await claimed_server(world, ada, "Survival"))["id"]

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    def actions(scene: Scene) -> list[str]:
        kept = scene.let(ada.get, f"/v1/connect/servers/{server_id}/commands")["items"]
        return [command["action"] for command in kept]

    def story(scene: Scene) -> None:
        scene.expected.add("net::ERR_FAILED")
        page = scene.enter(ada, f"/app/servers/{server_id}/console")
        complaint = page.get_by_role("alert").filter(has_text="Check the network")
        send = page.get_by_role("button", name="Send", exact=True)
        page.get_by_label("Action").fill("restart")
        page.route("**/commands", lose)
        send.click()
        expect(complaint).to_be_visible()
        page.unroute("**/commands")
        send.click()
        expect(complaint).to_have_count(0)
        assert actions(scene) == ["restart"]
        send.click()
        expect(page.get_by_role("button", name="Cancel: restart")).to_have_count(2)
        assert actions(scene) == ["restart", "restart"]

    await play(world, DESK, story)
