"""Who may do what: every route of sessions and identities x everybody who might ask.

A cell is the status of the answer. What a caller may not know of looks as though it were not there.
"""

import pytest

from tests.sessions.place import GO, IDENTITIES, Place, placed
from tests.sessions.play import CURRENT, LINKS, RENEW, SESSIONS, Browser, signed_in
from tests.support.world import Player

ASKERS = ("nobody", "cookie", "token", "session", "stranger", "super-admin", "ended", "revoked")

# {method, path and body: statuses for the askers above}; `$ann` is the user of the sessions, `$sid` one of theirs.
MATRIX: dict[tuple[str, str, str], tuple[int, ...]] = {
    ("POST", SESSIONS, ""): (401, 401, 201, 201, 201, 201, 401, 401),
    ("POST", SESSIONS, '{"code":"x"}'): (404,) * 8,
    ("POST", RENEW, ""): (401, 200, 401, 200, 401, 401, 401, 401),
    ("DELETE", CURRENT, ""): (204,) * 8,
    ("GET", SESSIONS, ""): (401, 401, 200, 200, 200, 200, 401, 401),
    ("DELETE", SESSIONS, ""): (401, 401, 204, 204, 204, 204, 401, 401),
    ("DELETE", f"{SESSIONS}/$sid", ""): (401, 401, 204, 204, 404, 404, 401, 401),
    ("POST", LINKS, ""): (401, 401, 201, 201, 201, 201, 401, 401),
    ("POST", LINKS, '{"userId":"$ann"}'): (401, 401, 201, 201, 403, 201, 401, 401),
    ("POST", LINKS, '{"userId":"$root"}'): (401, 401, 403, 403, 403, 403, 401, 401),
    ("POST", f"{LINKS}/inspect", '{"code":"x"}'): (404,) * 8,
    ("GET", "/v1/public/issuers", ""): (200,) * 8,
    ("GET", GO, ""): (302,) * 8,
    ("GET", f"{GO}/callback", ""): (302,) * 8,
    ("GET", IDENTITIES, ""): (401, 401, 200, 200, 200, 200, 401, 401),
    ("POST", IDENTITIES, '{"issuer":"good-games"}'): (401, 401, 403, 200, 403, 403, 401, 401),
    ("DELETE", f"{IDENTITIES}/{'0' * 24}", ""): (401, 401, 404, 404, 404, 404, 401, 401),
}


class Scene:
    """Everybody who might ask, made anew for each row."""

    def __init__(self, askers: dict[str, Player], names: dict[str, str]) -> None:
        self.askers, self.names = askers, names

    def filled(self, text: str) -> str:
        for name, value in self.names.items():
            text = text.replace(f"${name}", value)
        return text


async def scene(place: Place) -> Scene:
    world = place.world
    ann, stranger = await world.players("Ann", "Eve")
    root, other_root = await world.super_admin(), await world.super_admin()
    session, cookie, ended = [await signed_in(ann) for _ in range(3)]
    revoked = await world.player("Rex")
    cookie.forget()
    (sid,) = [one["id"] for one in (await session.get(SESSIONS))["items"] if one["current"]]
    await ended.do("DELETE", CURRENT, status=204)
    await revoked.do("POST", "/v1/auth/revoke", status=204)
    askers: dict[str, Player] = {
        "nobody": Browser(world), "cookie": cookie, "token": _in_browser(ann), "session": session,
        "stranger": _in_browser(stranger), "super-admin": _in_browser(root), "ended": ended,
        "revoked": _in_browser(revoked),
    }  # fmt: skip
    return Scene(askers, {"ann": ann.id, "root": other_root.id, "sid": sid})


def _in_browser(player: Player) -> Browser:
    """Our page, which holds a token and no cookie."""
    browser = Browser(player.world)
    browser.holds({"token": player.token, "user": {"id": player.id, "name": player.name}})
    return browser


@pytest.mark.parametrize("asker", ASKERS)
async def test_each_asker_is_answered_as_the_matrix_says(database_url, tmp_path, asker: str) -> None:
    column, found = ASKERS.index(asker), {}
    async with placed(database_url, tmp_path) as place:
        for method, path, body in MATRIX:
            it = await scene(place)
            content = it.filled(body).encode() or None
            response = await it.askers[asker].ask(method, it.filled(path), content=content)
            found[method, path, body] = response.status_code
    assert found == {row: cells[column] for row, cells in MATRIX.items()}
