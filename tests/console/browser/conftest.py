"""Fixtures of the stories.

A story is played in one of two looks, half of them in each; with `LOOKS=all` in both, as before a release. What holds
for every page in both looks is looked at by one sweep over all of them (`test_every_page.py`).
"""

import os
import zlib

import pytest

from tests.console.stage import LOOKS
from tests.discord.conftest import discord_seconds, guild
from tests.gateways.play import TOKEN
from tests.networks.conftest import cloudflare, dns_server, place, upstream_seconds
from tests.support.world import world

__all__ = ["cloudflare", "discord_seconds", "dns_server", "guild", "place", "upstream_seconds", "world"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`look` is how the browsers of a story are set up."""
    if "look" in metafunc.fixturenames:
        number = zlib.crc32(metafunc.function.__name__.encode()) % len(LOOKS)
        looks = LOOKS if os.environ.get("LOOKS") == "all" else LOOKS[number : number + 1]
        metafunc.parametrize("look", looks, ids=lambda look: f"{look.scheme}-{look.width}")


@pytest.fixture
def names() -> dict[str, str]:
    """The settings of gateways and their names."""
    return {
        "gateway_domain": "play.partyline.test",
        "gateway_host": "gw.partyline.test",
        "gateway_token": TOKEN,
    }
