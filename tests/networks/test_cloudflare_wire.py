"""A network's DNS provider: a real HTTP server that behaves like Cloudflare, well and badly."""

from typing import Any

import pytest

from routes.edge.binds import Bind
from routes.networks import automation
from routes.networks.name_service import NAME_SERVICE
from routes.networks.resolver import Resolver
from tests.networks.cloudflare import CANARY, ZONE
from tests.networks.play import Net, Place, network
from tests.support.canaries import dump, found
from tests.support.one_world import in_one_world
from tests.support.refusing import refuse

GATEWAY = "gw.partyline.test"


async def _provided(place: Place) -> Net:
    net = await network(await place.world.player("Ann"))
    await net.owner.do("PUT", net.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    return net


async def test_a_provider_is_taken_and_forgotten(place: Place):
    ann = await place.world.player("Ann")
    sky = await network(ann)
    assert await ann.get(sky.provider) == {"config": None}
    assert await ann.do("DELETE", sky.provider, status=200) == {"removed": False}
    config = await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    assert config | {"createdAt": "", "updatedAt": ""} == {
        "networkId": sky.id,
        "provider": "cloudflare",
        "zoneId": ZONE,
        "zoneName": "example.com",
        "tokenStatus": "active",
        "gatewayBaseDomain": "play.partyline.test",
        "createdAt": "",
        "updatedAt": "",
    }
    assert await ann.get(sky.provider) == {"config": config}
    assert await ann.do("DELETE", sky.provider, status=200) == {"removed": True}
    assert await ann.get(sky.provider) == {"config": None}


async def test_whoever_has_seen_an_older_provider_is_told(place: Place):
    """A token is part of what was seen, though it is not shown; how it stands is not."""
    sky = await network(await place.world.player("Ann"))
    body = {"apiToken": CANARY, "zoneId": ZONE}

    async def put(seen: str) -> Any:
        return await sky.owner.ask("PUT", sky.provider, body, headers={"if-match": seen})

    none = (await sky.owner.ask("GET", sky.provider)).headers["etag"]
    first = await put(none)
    assert first.status_code == 200, first.text
    place.cloudflare.wrong = "500"
    await sky.claim("play.example.com")
    place.cloudflare.wrong = None
    read = await sky.owner.ask("GET", sky.provider)
    assert read.json()["config"]["tokenStatus"] == "unreachable"
    assert read.headers["etag"] == first.headers["etag"] != none
    second = await put(read.headers["etag"])
    assert second.headers["etag"] != read.headers["etag"]
    for stale in (none, read.headers["etag"]):
        refused = await put(stale)
        assert (refused.status_code, refused.json()["code"]) == (409, "REVISION_CONFLICT")
    assert (await sky.owner.ask("GET", sky.provider)).headers["etag"] == second.headers["etag"]


async def _status_of_refused(net: Net, token: str = CANARY, zone_id: str = ZONE) -> Any:
    response = await net.owner.ask("PUT", net.provider, {"apiToken": token, "zoneId": zone_id})
    assert response.status_code == 422, response.text
    assert CANARY not in response.text
    assert await net.owner.get(net.provider) == {"config": None}
    return response.json()["meta"]["tokenStatus"]


async def test_tokens_that_do_not_verify(place: Place):
    sky = await network(await place.world.player("Ann"))
    stub = place.cloudflare
    assert await _status_of_refused(sky, "another") == "invalid"
    assert await _status_of_refused(sky, zone_id="f" * 32) == "zone_not_found"
    stub.unreadable = {ZONE}
    assert await _status_of_refused(sky) == "insufficient_scope"
    stub.unreadable, stub.permissions = set(), ["#zone:read"]
    assert await _status_of_refused(sky) == "insufficient_scope"
    stub.tokens[CANARY] = "disabled"
    assert await _status_of_refused(sky) == "invalid"


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ("500", "unreachable"),
        ("html", "unreachable"),
        ("redirect", "unreachable"),
        ("huge", "unreachable"),
        ("deep", "unreachable"),
        ("deep result", "unreachable"),
        ("slow", "unreachable"),
        ("refuse", "invalid"),
    ],
)
@pytest.mark.parametrize("upstream_seconds", [2.0])
async def test_answers_that_go_wrong(place: Place, wrong: str, status: str):
    """Nothing is saved, no redirect is followed, and what never answers is not waited for."""
    sky = await network(await place.world.player("Ann"))
    place.cloudflare.wrong = wrong
    assert await _status_of_refused(sky) == status
    assert len(place.cloudflare.asked) == 1


@in_one_world(
    "body",
    [
        {"apiToken": CANARY, "zoneId": "../../user/tokens/verify/aaaaaaaa"},
        {"apiToken": CANARY, "zoneId": ZONE.upper()},
        {"apiToken": CANARY, "zoneId": f"{ZONE}\n"},
        {"apiToken": CANARY, "zoneId": ZONE[:-1]},
        {"apiToken": f"{CANARY}\r\nx-evil: 1", "zoneId": ZONE},
        {"apiToken": "", "zoneId": ZONE},
        {"apiToken": "é", "zoneId": ZONE},
        {"apiToken": "x" * 257, "zoneId": ZONE},
        {"zoneId": ZONE},
    ],
)
async def test_what_never_reaches_the_provider(place: Place, body: dict[str, str]):
    sky = await network(await place.world.player("Ann"))
    response = await sky.owner.ask("PUT", sky.provider, body)
    assert response.status_code == 422
    assert CANARY not in response.text
    assert place.cloudflare.asked == []


async def test_a_claim_makes_its_records(place: Place):
    sky = await _provided(place)
    claim = await sky.claim("play.example.com")
    assert claim["gateway"]["autoManaged"] is True
    stub = place.cloudflare
    assert stub.contents("TXT", "_svc.play.example.com") == [claim["txt"]["value"]]
    assert stub.contents("CNAME", "play.example.com") == [GATEWAY]
    assert {record["comment"] for record in stub.records[ZONE]} == {f"partyline {sky.id}"}
    outside = await sky.claim("example.org")
    assert outside["gateway"]["autoManaged"] is False
    assert not (await sky.claim("badexample.com"))["gateway"]["autoManaged"]
    assert len(stub.records[ZONE]) == 2
    before = len(stub.asked)
    await sky.owner.do("POST", sky.domains, {"domain": "play.example.com"}, status=200)
    assert {method for method, _ in stub.asked[before:]} == {"GET"}


async def test_a_provider_is_given_what_was_claimed_before(place: Place):
    ann = await place.world.player("Ann")
    sky = await network(ann)
    claim = await sky.claim("a.example.com")
    await sky.claim("example.org")
    await ann.do("PUT", sky.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    assert place.cloudflare.contents("TXT", "_svc.a.example.com") == [claim["txt"]["value"]]
    assert place.cloudflare.contents("CNAME", "a.example.com") == [GATEWAY]
    assert len(place.cloudflare.records[ZONE]) == 2


async def test_records_of_others_stay(place: Place):
    sky = await _provided(place)
    stub = place.cloudflare
    stub.records[ZONE] = [
        {"id": "a1", "type": "CNAME", "name": "www.example.com", "content": "shop.example.net"},
        {"id": "a2", "type": "TXT", "name": "_svc.www.example.com", "content": "svc-network=somebody"},
    ]
    claim = await sky.claim("www.example.com")
    assert stub.contents("CNAME", "www.example.com") == ["shop.example.net"]
    assert stub.contents("TXT", "_svc.www.example.com") == sorted(
        [claim["txt"]["value"], "svc-network=somebody"]
    )


async def test_records_of_ours_are_changed(place: Place):
    """Say, after the gateway's host was configured anew."""
    sky = await _provided(place)
    stub = place.cloudflare
    mark = f"partyline {sky.id}"
    stub.records[ZONE] = [
        {"id": "a1", "type": "CNAME", "name": "www.example.com", "content": "old.test", "comment": mark}
    ]
    await sky.claim("www.example.com")
    assert stub.contents("CNAME", "www.example.com") == [GATEWAY]
    assert ("PUT", f"/client/v4/zones/{ZONE}/dns_records/a1") in stub.asked


async def test_a_provider_that_is_away_fails_no_claim(place: Place):
    """The claim stands, and the job makes its records when the provider is back."""
    sky = await _provided(place)
    place.cloudflare.wrong = "500"
    claim = await sky.claim("play.example.com")
    assert claim["gateway"]["autoManaged"] is True
    assert (await sky.owner.get(sky.provider))["config"]["tokenStatus"] == "unreachable"
    place.cloudflare.wrong = None
    tick = place.world.service.of(NAME_SERVICE).automation.tick
    await tick()
    assert place.cloudflare.records[ZONE] == []
    place.world.clock.advance(60_000)
    await tick()
    assert place.cloudflare.contents("TXT", "_svc.play.example.com") == [claim["txt"]["value"]]
    assert place.cloudflare.contents("CNAME", "play.example.com") == [GATEWAY]
    assert (await sky.owner.get(sky.provider))["config"]["tokenStatus"] == "active"
    asked = len(place.cloudflare.asked)
    await tick()
    assert len(place.cloudflare.asked) == asked


async def test_a_network_whose_tasks_cannot_be_noted_holds_up_no_other(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(automation, "BATCH_NETWORKS", 1)
    bad = await _provided(place)
    good = await network(await place.world.player("Ben"))
    await good.owner.do("PUT", good.provider, {"apiToken": CANARY, "zoneId": ZONE}, status=200)
    place.cloudflare.wrong = "500"
    await bad.claim("bad.example.com")
    place.world.clock.advance(1)
    await good.claim("good.example.com")
    place.cloudflare.wrong = None
    place.world.clock.advance(60_000)
    await refuse(place.world, "DELETE ON network_dns_tasks", f"OLD.network_id = '{bad.id}'")
    while not await place.world.service.of(NAME_SERVICE).automation.tick():
        pass
    assert place.cloudflare.contents("CNAME", "good.example.com") == [GATEWAY]


@pytest.mark.parametrize("upstream_seconds", [2.0])
async def test_a_slow_provider_holds_no_claim_up(place: Place):
    """It never answers; the claim does."""
    sky = await _provided(place)
    place.cloudflare.wrong = "slow"
    await sky.claim("play.example.com")


async def test_a_token_that_is_revoked_is_told(place: Place):
    sky = await _provided(place)
    place.cloudflare.tokens.clear()
    await sky.claim("play.example.com")
    assert (await sky.owner.get(sky.provider))["config"]["tokenStatus"] == "invalid"


async def test_a_record_that_cannot_be_written_is_given_up(place: Place):
    sky = await _provided(place)
    place.cloudflare.wrong_writes, place.cloudflare.wrong = True, None
    service = place.world.service
    await sky.claim("play.example.com")
    place.cloudflare.wrong = "500"
    for _ in range(50):
        place.world.clock.advance(3_600_000)
        await service.of(NAME_SERVICE).automation.tick()
    count = "SELECT count(*) FROM network_dns_tasks"
    assert await service.database.read(lambda conn: conn.fetchval(count)) == 0


async def test_the_token_is_nowhere(place: Place, capfd: pytest.CaptureFixture[str]):
    """In no answer, no log, no metric and no row; Cloudflare's own errors repeat it, ours do not."""
    sky = await _provided(place)
    ann = sky.owner
    body = {"apiToken": CANARY, "zoneId": ZONE}
    headers = {"idempotency-key": "put-once"}
    answers = [await ann.ask("PUT", sky.provider, body, headers=headers) for _ in range(2)]
    place.cloudflare.tokens.clear()
    await sky.claim("play.example.com")
    answers += [
        await ann.ask("PUT", sky.provider, body),
        await ann.ask("GET", sky.provider),
        await ann.ask("GET", sky.domains),
        await ann.ask("DELETE", sky.provider + f"?token={CANARY}x"),
        await place.world.nobody().ask("GET", "/metrics"),
        await (await place.world.super_admin()).ask("GET", "/v1/admin/actors"),
    ]
    assert not any(CANARY in answer.text for answer in answers)
    again = await network(await place.world.player("Bob"), "Again")
    place.cloudflare.tokens[CANARY] = "active"
    await again.owner.do("PUT", again.provider, body, status=200)

    kept = await place.world.service.database.read(dump)
    assert ZONE in kept
    assert found([CANARY], kept) == []
    assert CANARY not in "".join(capfd.readouterr())


async def test_a_sealed_token_opens_in_its_own_row_alone(place: Place):
    """Copied to another network, it is good for nothing."""
    sky = await _provided(place)
    bob = await place.world.player("Bob")
    sea = await network(bob, "Sea")
    copy = """
        INSERT INTO network_dns SELECT $2, zone_id, zone_name, sealed_token, token_status, created_at_ms, updated_at_ms
        FROM network_dns WHERE network_id = $1
        """
    await place.world.service.database.transact(lambda conn: conn.execute(copy, sky.id, sea.id))
    asked = len(place.cloudflare.asked)
    await sea.claim("stolen.example.com")
    assert len(place.cloudflare.asked) == asked
    assert (await bob.get(sea.provider))["config"]["tokenStatus"] == "invalid"


async def test_a_resolver_by_name(place: Place):
    place.dns.addresses["gw.partyline.test"] = ["192.0.2.2", "192.0.2.1"]
    resolver = Resolver(Bind("localhost", place.dns.port))
    assert await resolver.addresses("gw.partyline.test") == ["192.0.2.1", "192.0.2.2"]
    assert await resolver.addresses("192.0.2.9") == ["192.0.2.9"]
    assert await resolver.addresses("2001:db8::1") == []
    assert await resolver.addresses("nowhere.test") == []
