"""Wire: tokens on a route, the memory of verified tokens, `GET /v1/auth/verify`."""

import pytest
import trio

from actors.users.permissions import ABSENT_GRANTS, ROLE_NODES, Role
from actors.users.units_rights import GrantChange, change_grant
from actors.users.users import Users
from persistence.errors import DatabaseUnavailable
from routes.edge.errors import TokenExpired, Unauthenticated
from routes.edge.identity.credentials import as_header
from routes.edge.identity.issuer_settings import IssuerSettings
from routes.edge.identity.issuers import Issuers
from routes.users.authenticator import TokenAuthenticator
from tests.support.one_world import in_one_world
from tests.users.forgeries import FORGED
from tests.users.parts import ANN, BEN, EVE

VERIFY = "/v1/auth/verify"


@pytest.mark.parametrize("path", [VERIFY, "/auth/verify"])
async def test_verifying_tells_name_permissions_and_end_of_a_token(people, path):
    token = people.token(ANN, "Ann", ttl_seconds=60)
    answer = await people.call(token, "GET", path)
    assert answer.status == 200
    assert answer.json == {
        "valid": True,
        "userId": ANN,
        "name": "Ann",
        "permissions": sorted(ROLE_NODES[Role.USER] | ABSENT_GRANTS),
        "expiresAt": "2027-01-15T08:01:00.000Z",
    }


async def test_verify_lists_what_is_held_now(people):
    token = await people.make(ANN, role="admin", grants=["-versions:*", "svc.connect.extensions.mine"])
    held = (await people.call(token, "GET", VERIFY)).json["permissions"]
    assert "svc.connect.extensions.mine" in held
    assert "admin:user:view" in held
    assert not [node for node in held if node.startswith("versions:")]
    assert "capes:moderate" not in held


WELL_FORMED = {name: token for name, token in FORGED.items() if token.isascii() and token.strip() == token}


@in_one_world("token", WELL_FORMED.values(), ids=[*WELL_FORMED])
async def test_forged_tokens_get_one_answer(people, token):
    answer = await people.call(token, "GET", VERIFY, x_request_id="same")
    assert (answer.status, answer.code) == (401, "UNAUTHENTICATED")
    assert answer.headers["www-authenticate"] == "Bearer"
    nothing = await people.call(None, "GET", VERIFY, x_request_id="same")
    assert answer.body == nothing.body


async def test_an_expired_token_says_so(people, parts):
    token = people.token(ANN, "Ann", ttl_seconds=60)
    assert (await people.call(token, "GET", VERIFY)).status == 200
    parts.clock.at_ms += 59_999
    assert (await people.call(token, "GET", VERIFY)).status == 200
    parts.clock.at_ms += 1
    for _ in range(2):
        answer = await people.call(token, "GET", VERIFY)
        assert (answer.status, answer.code) == (401, "TOKEN_EXPIRED")


async def test_a_remembered_token_is_not_verified_again(people, parts):
    token = people.token(ANN, "Ann")
    first = await parts.authenticator.user(token)
    assert await parts.authenticator.user(token) is first
    parts.users.changed(ANN)
    again = await parts.authenticator.user(token)
    assert again is not first
    assert again.access is first.access  # users without grants share that of their roles
    await people.make(ANN, grants=["admin:user:view"])
    assert (await parts.authenticator.user(token)).access is not again.access


async def test_only_the_usual_spelling_is_remembered_but_every_one_counts(people, parts):
    token = people.token(ANN, "Ann")
    now_ms = parts.clock.now_ms()
    assert parts.authenticator.known(f"Bearer {token}".encode(), now_ms) is None
    for spelling in ("bearer", "BEARER ", "Bearer"):
        answer = await people.call(None, "GET", VERIFY, authorization=f"{spelling} {token}")
        assert answer.status == 200
    principal = parts.authenticator.known(f"Bearer {token}".encode(), now_ms)
    assert principal is not None
    assert parts.authenticator.known(f"bearer {token}".encode(), now_ms) is None
    with pytest.raises(TokenExpired):
        parts.authenticator.known(f"Bearer {token}".encode(), principal.expires_at_ms)


async def test_rights_that_are_taken_away_are_gone_at_once(people, parts):
    token = await people.make(ANN, grants=["admin:user:view"])
    await people.make(BEN)
    look = f"/v1/admin/users/{BEN}"
    assert (await people.call(token, "GET", look)).status == 200
    await people.make(ANN, grants=["-admin:user:view"])
    answer = await people.call(token, "GET", look)
    assert (answer.status, answer.json["meta"]) == (403, {"permission": "admin:user:view"})


async def test_memory_of_tokens_is_bounded(people, parts):
    authenticator = TokenAuthenticator(
        parts.keys, Issuers((), parts.clock), parts.users, parts.signed_in, parts.clock, capacity=2
    )
    tokens = [people.token(ANN, "Ann", ttl_seconds=60 + number) for number in range(6)]
    used = await authenticator.user(tokens[0])
    for token in tokens[1:]:
        await authenticator.user(token)
        assert await authenticator.user(tokens[0]) is used
    assert len(authenticator._recent) + len(authenticator._older) <= 4


async def test_a_changed_key_set_empties_the_memory(people, parts):
    issuers = Issuers((), parts.clock)
    authenticator = TokenAuthenticator(parts.keys, issuers, parts.users, parts.signed_in, parts.clock)
    token = people.token(ANN, "Ann")
    first = await authenticator.user(token)
    issuers.generation += 1
    assert await authenticator.user(token) is not first


@pytest.mark.parametrize("what", ["keys", "sessions"])
async def test_what_was_verified_before_a_change_is_not_remembered_after_it(people, parts, store, what):
    issuers, users = Issuers((), parts.clock), Users(store, parts.clock, parts.random_bytes)
    authenticator = TokenAuthenticator(parts.keys, issuers, users, parts.signed_in, parts.clock)
    await users.open()
    token, now_ms = people.token(ANN, "Ann"), parts.clock.now_ms()
    store.gate = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(authenticator.user, token)
        await store.answered.wait()
        (issuers if what == "keys" else parts.signed_in).generation += 1
        authenticator.known(as_header("another"), now_ms)
        store.gate.set()
    assert authenticator.known(as_header(token), now_ms) is None
    await authenticator.user(token)
    assert authenticator.known(as_header(token), now_ms) is not None


async def test_a_foreign_issuer_makes_users_too(parts):
    from tests.users.forgeries import HS, SECRET, foreign_claims, hs_signed

    settings = (IssuerSettings(iss="https://hs.example", alg="HS256", secret=SECRET),)
    authenticator = TokenAuthenticator(
        parts.keys, Issuers(settings, parts.clock), parts.users, parts.signed_in, parts.clock
    )
    token = hs_signed(HS, foreign_claims("https://hs.example", sub=EVE, name="Eve"), SECRET.encode())
    assert (await authenticator.user(token)).name == "Eve"
    assert await parts.users.name_of(EVE) == "Eve"


class Away:
    """A store that cannot be asked."""

    async def read(self, unit, *args):
        raise DatabaseUnavailable("away")

    transact = read


async def test_the_five_states_of_a_default_node(people, parts):
    """Missing, granted, negated, expired, store down (reliability G2): only the first two may pass."""
    node = "social:chat.write"
    token = people.token(ANN, "Ann")

    async def allowed():
        return (await parts.authenticator.user(token)).access.allows(node)

    assert await allowed()
    await people.make(ANN, "Ann", grants=[node])
    assert await allowed()
    await people.make(ANN, "Ann", grants=["-" + node])
    assert not await allowed()
    change = GrantChange(ANN, node, False, parts.clock.now_ms(), None, "0" * 24)
    await parts.database.transact(change_grant, change, people.stamp())
    parts.users.changed(ANN)
    assert not await allowed()
    down = Users(Away(), parts.clock, parts.random_bytes)
    authenticator = TokenAuthenticator(
        parts.keys, Issuers((), parts.clock), down, parts.signed_in, parts.clock
    )
    with pytest.raises(DatabaseUnavailable):
        await authenticator.user(token)


async def test_the_memory_does_not_outlive_the_token(people, parts):
    token = people.token(ANN, "Ann", ttl_seconds=1)
    await parts.authenticator.user(token)
    parts.clock.at_ms += 1000
    with pytest.raises(TokenExpired):
        await parts.authenticator.user(token)
    with pytest.raises(TokenExpired):
        await parts.authenticator.user(token)
    with pytest.raises(Unauthenticated):
        await parts.authenticator.user(token[:-1] + ("A" if token[-1] != "A" else "B"))
