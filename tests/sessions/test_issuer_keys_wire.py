"""Wire: an issuer that has exchanged its key is asked for the new one by the first sign-in, and not by each."""

import pytest

from routes.edge.identity import issuers
from routes.users.authenticator import ISSUERS
from tests.sessions.place import Place
from tests.sessions.play import Browser

pytestmark = pytest.mark.one_node(because="each node reads the keys of issuers itself")

KEYS = "/jwks.json"


@pytest.mark.parametrize("kid", ["2", "1"])
async def test_the_key_is_exchanged_while_somebody_signs_in(place: Place, kid: str) -> None:
    """Also where the new key has the name of the old one, as that of a restarted issuer may."""
    await place.user("1")
    browser = Browser(place.world)
    address = place.good.signed_in(await place.goes(browser), "1")
    place.good.rotate(kid)
    assert await place.comes_back(browser, address) == "/app"
    await place.user("2")
    assert place.good.asked_for(KEYS) == 2


async def test_tokens_that_no_key_fits_have_the_keys_fetched_once_in_a_while(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails() -> None:
        assert (await place.enters(Browser(place.world), "1")).endswith("#error=failed")

    place.good.header = {"kid": "of nobody"}
    for _ in range(3):
        await fails()
    assert place.good.asked_for(KEYS) == 2
    monkeypatch.setattr(issuers, "LEARN_AGAIN_SECONDS", 0.0)
    await fails()
    assert place.good.asked_for(KEYS) == 3


async def test_a_token_of_another_algorithm_has_nothing_fetched(place: Place) -> None:
    place.good.sign = lambda _: "eyJhbGciOiJSUzI1NiIsImtpZCI6IjIifQ.e30.AAAA"
    assert (await place.enters(Browser(place.world), "1")).endswith("#error=failed")
    assert place.good.asked_for(KEYS) == 1


async def test_an_issuer_that_was_away_at_the_start_is_asked_by_who_signs_in(place: Place) -> None:
    (issuer,) = place.world.service.of(ISSUERS).named(place.good.url)
    issuer.keys = {}
    await place.user("1")


async def test_many_groups_fit_into_an_id_token(place: Place) -> None:
    await place.user("1", groups=[f"{number:036}" for number in range(200)])
