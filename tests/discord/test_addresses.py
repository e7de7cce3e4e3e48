"""Rules: which addresses name a webhook or an invite."""

import pytest

from actors.discord.addresses import WebhookAddress, is_invite, webhook_of

BASE = "http://127.0.0.1:8090/discord"
TOKEN = "aB3_-" * 13
GOOD = f"https://discord.com/api/webhooks/123456789012345678/{TOKEN}"


@pytest.mark.parametrize(
    "url",
    [
        GOOD,
        GOOD.replace("discord.com", "ptb.discord.com"),
        GOOD.replace("discord.com", "canary.discord.com"),
        GOOD.replace("discord.com", "discordapp.com"),
        GOOD.replace("discord.com", "canary.discordapp.com"),
        GOOD.replace("/api/", "/api/v10/"),
        f"{BASE}/webhooks/123456789012345678/{TOKEN}",
    ],
)
def test_addresses_of_webhooks(url: str) -> None:
    assert webhook_of(url, BASE) == WebhookAddress("123456789012345678", TOKEN)


@pytest.mark.parametrize(
    "url",
    [
        "",
        GOOD.replace("https", "http"),
        GOOD.replace("https", "HTTPS"),
        GOOD.replace("discord.com", "discord.com:443"),
        GOOD.replace("discord.com", "discord.com.evil.example"),
        GOOD.replace("discord.com", "evil.example"),
        GOOD.replace("discord.com", "u@discord.com"),
        GOOD.replace("discord.com", "discordXcom"),
        GOOD.replace("discord.com", "media.discord.com"),
        GOOD.replace("/api/", "/api/v100/"),
        GOOD.replace("/api/", "/api/../"),
        GOOD.replace("webhooks/1", "webhooks/x"),
        GOOD.replace("webhooks/1", "webhooks/١"),
        f"{GOOD}/slack",
        f"{GOOD}/",
        f"{GOOD}?wait=false",
        f"{GOOD}#a",
        f"{GOOD}\n",
        f" {GOOD}",
        GOOD[:-10],
        GOOD + "a" * 40,
        GOOD[:-1] + "%41",
        f"{BASE}x/webhooks/123456789012345678/{TOKEN}",
        f"{BASE}/webhooks/../webhooks/1/{TOKEN}",
        f"http://127a0a0a1:8090/discord/webhooks/1/{TOKEN}",
    ],
)
def test_addresses_that_are_none(url: str) -> None:
    assert webhook_of(url, BASE) is None


def test_a_token_is_in_no_representation() -> None:
    found = webhook_of(GOOD, BASE)
    assert TOKEN not in f"{found!r} {found}"


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://discord.gg/sky-islands", True),
        ("https://discord.com/invite/aB3xY", True),
        ("http://discord.gg/aB3xY", False),
        ("https://discord.gg/", False),
        ("https://discord.gg/aB3xY/..", False),
        ("https://discord.gg.evil.example/aB3xY", False),
        ("https://discord.com/aB3xY", False),
        ("https://discord.gg/aB3xY?event=1", False),
        ("javascript:alert(1)", False),
    ],
)
def test_addresses_of_invites(url: str, good: bool) -> None:
    assert is_invite(url) is good
