"""Claims of domains and their verification against a real DNS server."""

from typing import Any

import pytest
import trio

from tests.networks.play import Net, Place, network
from tests.support.one_world import in_one_world


async def _refused(net: Net, claim: Any) -> Any:
    """What a check that fails says."""
    response = await net.owner.ask("POST", net.verify(claim))
    assert (response.status_code, response.json()["code"]) == (409, "DOMAIN_NOT_VERIFIED")
    return response.json()["meta"]


async def test_a_domain_is_claimed_and_verified(place: Place):
    ann = await place.world.player("Ann")
    sky = await network(ann)
    claim = await sky.claim("Bücher.example.COM.")
    domain = claim["domain"]
    assert domain["domain"] == "xn--bcher-kva.example.com"
    assert (domain["verified"], domain["status"], domain["lastCheckedAt"]) == (False, "pending", None)
    assert claim["txt"] == {
        "name": "_svc.xn--bcher-kva.example.com",
        "value": f"svc-network={domain['token']}",
    }
    assert claim["gateway"] == {
        "type": "CNAME",
        "name": "xn--bcher-kva.example.com",
        "value": "gw.partyline.test",
        "autoManaged": False,
    }
    assert await _refused(sky, claim) | {"lastCheckedAt": ""} == {
        "status": "failed",
        "verificationErrors": ["NO_SUCH_NAME"],
        "observed": [],
        "lastCheckedAt": "",
    }
    place.dns.txt[claim["txt"]["name"]] = ["v=spf1 -all", claim["txt"]["value"]]
    verified = (await ann.do("POST", sky.verify(claim), status=200))["domain"]
    assert (verified["verified"], verified["status"]) == (True, "verified")
    assert verified["verifiedAt"] == verified["lastCheckedAt"]
    assert verified["observed"] == [claim["txt"]["value"], "v=spf1 -all"]
    assert (await ann.get(sky.domains))["items"] == [verified]


async def test_claiming_twice_is_one_claim(place: Place):
    ann = await place.world.player("Ann")
    sky = await network(ann)
    first = await sky.claim("example.com")
    again = await ann.do("POST", sky.domains, {"domain": "EXAMPLE.com"}, status=200)
    assert again == first
    assert len((await ann.get(sky.domains))["items"]) == 1


async def test_a_network_claims_a_hundred_domains(place: Place):
    ann, bob = await place.world.players("Ann", "Bob")
    sky = await network(ann)
    for number in range(100):
        await sky.claim(f"d{number}.example.com")
    assert await ann.refused("POST", sky.domains, {"domain": "more.com"}) == (422, "QUOTA_EXCEEDED")
    await (await network(bob)).claim("more.com")


@in_one_world(
    "domain",
    [
        "com",
        "10.0.0.1",
        "*.example.com",
        "play.partyline.test",
        "x.play.partyline.test",
        "partyline.test",
        "",
    ],
)
async def test_what_cannot_be_claimed(place: Place, domain: str):
    ann = await place.world.player("Ann")
    sky = await network(ann)
    assert await ann.refused("POST", sky.domains, {"domain": domain}) == (422, "VALIDATION_FAILED")


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("servfail", "SERVER_FAILURE"),
        ("loop", "SERVER_FAILURE"),
        ("empty", "NO_RECORD"),
        ("foreign", "NO_RECORD"),
        ("garbage", "TIMEOUT"),
        ("silent", "TIMEOUT"),
    ],
)
@pytest.mark.parametrize("upstream_seconds", [2.0])
async def test_resolvers_that_fail(place: Place, fault: str, error: str):
    """What never answers is not waited for; a record at another name is not one."""
    ann = await place.world.player("Ann")
    sky = await network(ann)
    claim = await sky.claim("example.com")
    name = claim["txt"]["name"]
    place.dns.faults[name] = fault
    place.dns.txt[name] = [claim["txt"]["value"]]
    assert (await _refused(sky, claim))["verificationErrors"] == [error]
    del place.dns.faults[name]
    assert (await ann.do("POST", sky.verify(claim), status=200))["domain"]["verificationErrors"] == []


async def test_a_domain_is_not_verified_by_a_record_that_differs(place: Place):
    ann = await place.world.player("Ann")
    sky = await network(ann)
    claim = await sky.claim("example.com")
    name, value = claim["txt"]["name"], claim["txt"]["value"]
    for wrong in (value[:-1], value + "x", value.upper(), f" {value}", claim["domain"]["token"], "é" * 20):
        place.dns.txt[name] = [wrong]
        said = await _refused(sky, claim)
        assert (said["verificationErrors"], len(said["observed"])) == (["WRONG_VALUE"], 1)
    place.dns.txt[name] = [f"record {number}" for number in range(40)]
    said = await _refused(sky, claim)
    assert len(said["observed"]) == 16


async def test_a_thousand_records_are_too_many(place: Place):
    """They come over TCP, and more than four kilobytes are not looked at, even when the right one is among them."""
    ann = await place.world.player("Ann")
    sky = await network(ann)
    claim = await sky.claim("example.com")
    records = [f"record number {number}" for number in range(1000)]
    place.dns.txt[claim["txt"]["name"]] = [*records, claim["txt"]["value"]]
    assert (await _refused(sky, claim))["verificationErrors"] == ["TOO_LARGE"]
    assert ("tcp", claim["txt"]["name"]) in place.dns.asked


async def test_no_search_domains(place: Place):
    ann = await place.world.player("Ann")
    sky = await network(ann)
    claim = await sky.claim("example.com")
    await _refused(sky, claim)
    assert {name for _, name in place.dns.asked} == {claim["txt"]["name"]}


async def test_a_domain_is_verified_by_one_network(place: Place):
    ann, bob = await place.world.players("Ann", "Bob")
    sky, sea = await network(ann), await network(bob, "Sea")
    first = await place.verified(sky, "example.com")
    claim = await sea.claim("example.com")
    name = claim["txt"]["name"]
    place.dns.txt[name].append(claim["txt"]["value"])
    assert (await _refused(sea, claim))["verificationErrors"] == ["HELD_ELSEWHERE"]
    place.dns.txt[name] = [claim["txt"]["value"]]
    assert (await _refused(sea, claim))["verificationErrors"] == ["HELD_ELSEWHERE"]
    assert (await _refused(sky, first))["status"] == "verified"
    place.world.clock.advance(7 * 24 * 3_600_000)
    ann.headers["authorization"] = f"Bearer {place.world.token(ann.id, 'Ann')}"
    bob.headers["authorization"] = f"Bearer {place.world.token(bob.id, 'Bob')}"
    taken = await bob.do("POST", sea.verify(claim), status=200)
    assert taken["domain"]["verified"] is True
    (lost,) = (await ann.get(sky.domains))["items"]
    assert (lost["status"], lost["verificationErrors"]) == ("failed", ["HELD_ELSEWHERE"])


async def test_of_many_networks_that_verify_at_once_one_holds(place: Place):
    players = [await place.world.player(f"P{number}") for number in range(12)]
    nets = [await network(player) for player in players]
    claims = [await net.claim("example.com") for net in nets]
    place.dns.txt[claims[0]["txt"]["name"]] = [claim["txt"]["value"] for claim in claims]
    outcomes: list[int] = []

    async def verify(net: Net, claim: Any) -> None:
        outcomes.append((await net.owner.ask("POST", net.verify(claim))).status_code)

    async with trio.open_nursery() as nursery:
        for net, claim in zip(nets, claims, strict=True):
            nursery.start_soon(verify, net, claim)
    assert sorted(outcomes) == [200] + [409] * 11


async def test_verified_under_a_key(place: Place):
    """A check that failed is not kept under the key; one that verified is."""
    ann = await place.world.player("Ann")
    sky = await network(ann)
    claim = await sky.claim("example.com")
    headers = {"idempotency-key": "verify-once"}
    assert (await ann.ask("POST", sky.verify(claim), headers=headers)).status_code == 409
    place.dns.txt[claim["txt"]["name"]] = [claim["txt"]["value"]]
    assert (await ann.ask("POST", sky.verify(claim), headers=headers)).status_code == 200
    del place.dns.txt[claim["txt"]["name"]]
    replayed = await ann.ask("POST", sky.verify(claim), headers=headers)
    assert (replayed.status_code, replayed.headers["idempotent-replayed"]) == (200, "true")


async def test_verifying_has_a_rate(place: Place):
    ann = await place.world.player("Ann")
    sky = await network(ann)
    claim = await sky.claim("example.com")
    answer = await ann.ask("POST", sky.verify(claim))
    assert answer.headers["ratelimit-policy"] == '"domain-verify";q=30;w=60'
