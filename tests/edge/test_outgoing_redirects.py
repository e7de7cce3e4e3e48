"""Where redirects lead: only to listed hosts, by https, at public addresses, and to the address that was checked."""

from pathlib import Path

import pytest

from routes.edge.outgoing_http import AnswerRefused, NotAnswered
from routes.edge.outgoing_redirects import Hop, RedirectRefused, Redirects, is_public
from tests.edge.redirecting import BYTES, HOST, HOSTS, redirecting, to

KEY = "canary-key-3Jd"
PUBLIC = ["1.1.1.1", "203.0.112.1", "2606:4700::1", "2a00:1450:4001::5"]
PRIVATE = [
    "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "192.0.0.1", "192.0.0.9", "192.88.99.1", "192.0.2.1", "198.18.0.1", "198.51.100.1",
    "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1",
    "::ffff:127.0.0.1", "::ffff:1.1.1.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1",
    "2001:db8::1", "2001:1::1", "2001:20::1", "3fff::1", "4000::1", "2002:7f00:1::", "fc00::1", "fd12::1",
    "fe80::1", "fec0::1", "ff02::1", "fe80::1%eth0", "", "localhost", "1.1.1", "0x7f.1", "2130706433",
]  # fmt: skip


@pytest.mark.parametrize(
    ("address", "public"), [*((one, True) for one in PUBLIC), *((one, False) for one in PRIVATE)]
)
def test_addresses_of_the_internet(address: str, public: bool):
    assert is_public(address) is public


async def resolved(_host: str) -> list[str]:
    return ["1.1.1.1"]


ASKED = "https://api.example/v1/files/1?a=b"


@pytest.mark.parametrize(
    ("location", "connect_url"),
    [
        (f"https://{HOST}/a/b?c=%20d", "https://1.1.1.1:443/a/b?c=%20d"),
        (f"https://{HOST}", "https://1.1.1.1:443/"),
        (f"HTTPS://{HOST.upper()}:443/a#fragment", "https://1.1.1.1:443/a"),
        (f"//{HOST}/a", "https://1.1.1.1:443/a"),
    ],
)
async def test_a_hop_connects_to_the_address_that_was_judged(location: str, connect_url: str):
    hop = await Redirects(hosts=HOSTS, resolve=resolved).hop(ASKED, location)
    assert (hop.connect_url, hop.host) == (connect_url, HOST)


async def test_a_hop_to_the_same_host():
    redirects = Redirects(hosts=frozenset({"api.example"}), resolve=resolved)
    expected = Hop("https://api.example/v1/files/2", "https://1.1.1.1:443/v1/files/2", "api.example")
    assert await redirects.hop(ASKED, "2") == expected


@pytest.mark.parametrize(
    "location",
    [
        None, "", "2", "/a", "https://evil.example/", f"https://{HOST}.evil.example/", f"https://evil.example#{HOST}",
        f"https://x@{HOST}/", f"https://{HOST}@evil.example/", f"https://{HOST}:444/", f"https://{HOST}:x/",
        f"http://{HOST}/", f"ftp://{HOST}/", "javascript:alert(1)", "file:///etc/passwd", f"https://{HOST}\\@evil.example/",
        "https://127.0.0.1/", "https://[::1]/", "https://[", f"https://{HOST}./", f"https://{HOST}/a b", f"https://{HOST}/ä",
        f"https://{HOST}/\x00", f"https://{HOST}/" + "a" * 2048, "https:///a",
    ],
)  # fmt: skip
async def test_locations_that_lead_nowhere(location: str | None):
    with pytest.raises(RedirectRefused, match="a redirect leads somewhere else"):
        await Redirects(hosts=HOSTS, resolve=resolved).hop(ASKED, location)


@pytest.mark.parametrize("addresses", [[], ["127.0.0.1"], ["1.1.1.1", "10.0.0.1"], ["1.1.1.1", "::1"]])
async def test_names_that_mean_something_private(addresses: list[str]):
    """One such address among others is enough."""

    async def resolve(_host: str) -> list[str]:
        return addresses

    with pytest.raises(RedirectRefused):
        await Redirects(hosts=HOSTS, resolve=resolve).hop(ASKED, f"https://{HOST}/")


async def test_a_name_without_addresses():
    async def resolve(_host: str) -> list[str]:
        raise OSError("no such host")

    with pytest.raises(RedirectRefused) as raised:
        await Redirects(hosts=HOSTS, resolve=resolve).hop(ASKED, f"https://{HOST}/")
    assert raised.value.__cause__ is None


async def test_a_redirect_is_followed_without_our_headers(tmp_path: Path):
    async with redirecting(tmp_path, {"/file": f"https://{HOST}/x?y=1"}, {"/x?y=1": BYTES}) as (
        api,
        cdn,
        upstream,
    ):
        answer = await upstream.ask("GET", ("file",), headers={"x-api-key": KEY})
    assert (answer.status, answer.body) == (200, b"ok")
    assert KEY in api.asked[0]
    (request,) = cdn.asked
    assert KEY not in request
    assert f"host: {HOST}\r\n" in request.lower()


async def test_two_redirects_and_no_more(tmp_path: Path):
    target = {"/1": to(f"https://{HOST}/2"), "/2": BYTES, "/3": to(f"https://{HOST}/1")}
    base = {"/two": f"https://{HOST}/1", "/three": f"https://{HOST}/3"}
    async with redirecting(tmp_path, base, target) as (_, cdn, upstream):
        assert (await upstream.ask("GET", ("two",))).body == b"ok"
        with pytest.raises(AnswerRefused, match="with a redirect"):
            await upstream.ask("GET", ("three",))
    assert len(cdn.asked) == 4


async def test_only_reading_is_redirected(tmp_path: Path):
    async with redirecting(tmp_path, {"/file": f"https://{HOST}/x"}, {"/x": BYTES}) as (_, cdn, upstream):
        with pytest.raises(AnswerRefused):
            await upstream.ask("POST", ("file",), body=b"x")
    assert cdn.asked == []


async def test_the_certificate_is_that_of_the_name(tmp_path: Path):
    """Not of the address, and not of another name there."""
    async with redirecting(tmp_path, {"/file": "https://other.example/x"}, {"/x": BYTES}) as (
        _,
        cdn,
        upstream,
    ):
        with pytest.raises(NotAnswered):
            await upstream.ask("GET", ("file",))
    assert cdn.asked == []


async def test_a_hop_has_the_same_bounds(tmp_path: Path):
    long = b"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n" + b"x" * 101
    async with redirecting(tmp_path, {"/file": f"https://{HOST}/x"}, {"/x": long}) as (_, _cdn, upstream):
        with pytest.raises(AnswerRefused, match="too many bytes"):
            await upstream.ask("GET", ("file",))
