"""Browsers that sign in, as tests of sessions need them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

from tests.support.world import Player, World

SESSIONS = "/v1/sessions"
LINKS = "/v1/sign-in-links"
CURRENT = f"{SESSIONS}/current"
RENEW = f"{SESSIONS}/renew"
VERIFY = "/v1/auth/verify"

OURS = {"sec-fetch-site": "same-origin"}
"""The header by which a browser says that a page of the service itself makes the request."""

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000


class Browser(Player):
    """A browser with cookies, in which one of our pages is open.

    Args:
        world: the service that it uses.

    Attributes:
        cookies: {name: value}.
        set: the Set-Cookie headers of the last answer.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world, "", "", None)
        self.cookies: dict[str, str] = {}
        self.set: list[str] = []

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Make a request as `Player.ask` does; cookies are sent and kept."""
        carried = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        sent = {**OURS, **(carried if self.cookies else {}), **(headers or {})}
        self.world.http.cookies.clear()
        response = await super().ask(method, path, body, content=content, headers=sent)
        self.world.http.cookies.clear()
        self.set = response.headers.get_list("set-cookie")
        for said in self.set:
            name, _, value = said.partition(";")[0].partition("=")
            self.cookies[name] = value
            if "Max-Age=0" in said:
                del self.cookies[name]
        return response

    def holds(self, answer: Mapping[str, Any]) -> None:
        """Keep the token of an answer, as a page does in its memory."""
        self.id, self.name, self.token = answer["user"]["id"], answer["user"]["name"], answer["token"]
        self.headers = {"authorization": f"Bearer {self.token}"}

    def forget(self) -> None:
        """Forget the token, as a page does that is loaded anew."""
        self.token, self.headers = None, {}

    async def enter(self, *, code: str) -> Any:
        """Sign in with the code of a link."""
        self.forget()
        answer = await self.do("POST", SESSIONS, {"code": code}, status=201)
        self.holds(answer)
        return answer

    async def enter_as(self, player: Player) -> Any:
        """Sign in with somebody's token."""
        self.token, self.headers = player.token, dict(player.headers)
        answer = await self.do("POST", SESSIONS, status=201)
        self.holds(answer)
        return answer

    async def renew(self) -> Any:
        """Renew the session; returns the answer with a fresh token."""
        self.forget()
        answer = await self.do("POST", RENEW, status=200)
        self.holds(answer)
        return answer

    async def is_out(self) -> bool:
        """Whether neither the token nor the cookie is good any more."""
        token = (await self.ask("GET", VERIFY)).status_code
        renewal = (await self.ask("POST", RENEW)).status_code
        assert {token, renewal} <= {200, 401}
        return (token, renewal) == (401, 401)


def code_of(link: Mapping[str, Any]) -> str:
    """The code of a sign-in link, which stands in its fragment alone."""
    parts = urlsplit(link["url"])
    assert (parts.path, parts.query) == ("/app/sign-in", "")
    name, _, code = parts.fragment.partition("=")
    assert (name, len(code)) == ("code", 43)
    return code


async def link_of(player: Player, user: Player | None = None) -> str:
    """Make a sign-in link by a player, for themselves or for another user; returns its code."""
    body = None if user is None else {"userId": user.id}
    return code_of(await player.do("POST", LINKS, body, status=201))


async def signed_in(player: Player) -> Browser:
    """A browser in which a user is signed in for the longest time that there is: by the link of a super-admin."""
    browser = Browser(player.world)
    await browser.enter(code=await link_of(await player.world.super_admin(), player))
    return browser
