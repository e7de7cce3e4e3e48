"""Cookies, codes, tokens and clients' secrets stand in no row, file, log or metric, and in no answer but their own."""

from pathlib import Path

import pytest

from tests.sessions.issuer import CLIENT_SECRET
from tests.sessions.place import GO, IDENTITIES, placed
from tests.sessions.play import LINKS, RENEW, SESSIONS, Browser, link_of
from tests.support.canaries import Overheard, dump, found, kept_in_files


async def test_no_secret_turns_up_again(
    database_url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with placed(database_url, tmp_path) as place:
        overheard = Overheard(place.world)
        browser, ann = Browser(place.world), await place.world.player("Ann")
        led_to = await place.goes(browser)
        flow = browser.cookies["partyline-flow"]
        address = place.good.signed_in(led_to, "4711", name="Ada")
        assert await place.comes_back(browser, address) == "/app"
        secret, code = browser.cookies["partyline"], await link_of(ann)
        await browser.renew()
        secrets = {"cookie": secret, "code": code, "flow": flow, "token": str(browser.token)}
        for canary in secrets.values():
            await Browser(place.world).ask("POST", SESSIONS, {"code": canary[:200]})
            await Browser(place.world).ask("POST", SESSIONS, {"code": [canary]})
            await Browser(place.world).ask(
                "POST", RENEW, headers={"cookie": f"partyline={canary[:60]}; x={canary}"}
            )
            await Browser(place.world).ask("GET", f"{GO}/callback?code={canary[:200]}&state={canary[:200]}")
        for path in (
            SESSIONS,
            IDENTITIES,
            "/v1/public/issuers",
            "/v1/notifications",
            "/metrics",
            "/openapi.json",
        ):
            await browser.ask("GET", path)
        await ann.refused("POST", LINKS, {"userId": code[:36]})
        said_once = {name: len(overheard.saying(canary)) for name, canary in secrets.items()}
        assert said_once == {"cookie": 1, "code": 1, "flow": 1, "token": 1}
        secrets |= {
            "client secret": CLIENT_SECRET,
            "issuer's token": "canary-access-token",
            "issuer's code": "canary-code-0",
        }
        verifier = next(one.form()["code_verifier"] for one in place.good.asked if one.path == "/token")
        secrets["verifier"] = verifier
        for name in ("client secret", "issuer's token", "verifier"):
            assert overheard.saying(secrets[name]) == [], name
        assert found(secrets.values(), await place.world.service.database.read(dump)) == []
    assert [name for text in kept_in_files(tmp_path) for name in found(secrets.values(), text)] == []
    assert found(secrets.values(), "".join(capfd.readouterr())) == []
