"""oidc-provider, a certified OpenID Connect provider, signs a user in, asked as any issuer is."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from subprocess import PIPE
from urllib.parse import urljoin

import httpx2
import trio

from scripts.others import node
from scripts.others.node import Differs, expect
from scripts.others.service import SECONDS
from tests.support.process import free_port, server_process

VERSION = "9.13.3"

SCRIPT = Path(__file__).with_suffix(".js")

CLIENT_ID, CLIENT_SECRET = "partyline", "a secret of a service that lives for a minute"

MOST_STEPS = 12
"""Most pages and redirects from our link to our callback."""


async def oidc_provider() -> None:
    """The whole check, with a service of its own.

    Raises:
        NoNode: programs of Node cannot run here.
        Differs: the provider does not let the user in, or lets them in as somebody else.
    """
    await trio.to_thread.run_sync(node.install, f"oidc-provider@{VERSION}")
    port, console = free_port(), "http://console.example"
    issuer = f"http://127.0.0.1:{port}"
    entry = {
        "iss": issuer,
        "alg": "RS256",
        "jwksUrl": f"{issuer}/jwks",
        "name": "Interop",
        "clientId": CLIENT_ID,
        "clientSecret": CLIENT_SECRET,
        "discoveryUrl": f"{issuer}/.well-known/openid-configuration",
    }
    callback = f"{console}/app/sign-in/interop/callback"
    async with (
        _provider(str(port), CLIENT_ID, CLIENT_SECRET, callback),
        server_process(jwt_issuers=json.dumps([entry]), dashboard_url=console) as server,
        httpx2.AsyncClient(timeout=SECONDS) as browser,
    ):
        for user in ("ada", "ben"):
            browser.cookies.clear()
            address = await _led_back(browser, f"{server.url}/app/sign-in/interop", user)
            expect("where the provider leads back to", address.partition("?")[0], callback)
            answer = await browser.get(address.replace(console, server.url))
            expect("where the console is", answer.headers.get("location"), f"{console}/app")
            ours = {"sec-fetch-site": "same-origin"}
            renewed = await browser.post(f"{server.url}/v1/sessions/renew", headers=ours)
            expect(renewed.text, renewed.status_code, 200)
            expect("who is signed in", renewed.json()["user"]["name"], f"{user} of oidc-provider")


@asynccontextmanager
async def _provider(*arguments: str) -> AsyncIterator[None]:
    """Run the provider for the block; entered once it listens."""
    command = ["node", str(SCRIPT.resolve()), *arguments]
    async with trio.open_nursery() as nursery:
        start = partial(
            trio.run_process, command, stdout=PIPE, cwd=node.FOLDER, check=False, env=node.environment()
        )
        process = await nursery.start(start)
        with trio.fail_after(SECONDS):
            if not await process.stdout.receive_some():
                raise Differs("oidc-provider does not start")
        yield
        nursery.cancel_scope.cancel()


async def _led_back(browser: httpx2.AsyncClient, address: str, user: str) -> str:
    """Sign in and agree at the provider, as a person does; returns the address that it leads back to."""
    answer = await browser.get(address)
    for _ in range(MOST_STEPS):
        if answer.is_redirect:
            address = urljoin(str(answer.url), answer.headers["location"])
            if "/callback?" in address:
                return address
            answer = await browser.get(address)
        else:
            prompt = "login" if 'value="login"' in answer.text else "consent"
            form = {"prompt": prompt, "login": user, "password": "any"}
            answer = await browser.post(str(answer.url), data=form)
    raise Differs(f"the provider does not come to an end: {answer.status_code} {answer.text:.200}")
