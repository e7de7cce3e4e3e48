"""Rules: messages keep Discord's limits, mention nobody, and show what users have written as they wrote it."""

import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.discord.markdown import escaped
from actors.discord.messages import FORMS, message_of, username_of
from persistence.discord.rows import DiscordEvent, PostRow
from scripts.upstreams.discord_messages import complaints

NOW_MS = 1_795_500_000_000
EVENTS = get_args(DiscordEvent)


def post(event: DiscordEvent, **more: Any) -> PostRow:
    fields: dict[str, Any] = {
        "seq": 1, "event": event, "created_at_ms": NOW_MS, "attempts": 0, "sending": False, "current": True,
        "network_name": "Sky", "title": "Lobby", "text": "", "player_name": "Ann", "image_url": None,
    }  # fmt: skip
    return PostRow(**fields | more)


def sent(event: DiscordEvent, **more: Any) -> Any:
    return json.loads(message_of(post(event, **more)))


def plain(text: str) -> str:
    """What a reader sees of escaped text."""
    return re.sub(r"\\([^0-9A-Za-z\s])", r"\1", text)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("server_online", "**Lobby** is online."),
        ("server_offline", "**Lobby** is offline."),
        ("member_joined", "**Ann** is now a member of **Lobby**."),
        ("publication_listed", "**Lobby** is in the public list of servers: play\\.example\\.org"),
    ],
)
def test_what_is_told(event: DiscordEvent, told: str) -> None:
    message = sent(event, text="play.example.org")
    assert message["username"] == "Sky"
    assert message["allowed_mentions"] == {"parse": []}
    (embed,) = message["embeds"]
    assert embed["description"] == told
    assert embed["timestamp"].startswith("2026-11-2")


def test_every_event_has_its_words() -> None:
    assert FORMS.keys() == set(EVENTS)


def test_a_post_about_an_article_has_its_title_text_and_image() -> None:
    image = "https://img.example/a.png"
    (embed,) = sent("news_published", title="Patch", text="Two lines\nof it", image_url=image)["embeds"]
    assert (embed["title"], embed["description"], embed["image"]) == (
        "Patch",
        "Two lines\nof it",
        {"url": image},
    )


@pytest.mark.parametrize(
    "name",
    [
        "@everyone", "<@1234>", "<@&1234>", "<#1234>", "</cmd:1234>", "[x](https://evil.example)", "**b** __u__ ~~s~~",
        "||spoiler||", "`code`", "> quote", "# head", "- list", "1. one", "https://evil.example", ":smile:", "a\\*b",
        "<t:1:R>", "discord.gg/abc", "<https://evil.example>",
    ],
)  # fmt: skip
def test_names_act_on_nothing(name: str) -> None:
    text = escaped(name, 200)
    assert plain(text) == name
    # Whatever has a meaning stands behind a backslash.
    bare = re.sub(r"\\[^0-9A-Za-z\s]", "", text)
    assert not re.search(r"[\\*_~`|>#+\-\[\]()<@:]", bare)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abcd", "abcd"),
        ("abcde", "abcde"),
        ("abcdef", "abcd…"),
        ("abcdefg", "abcd…"),
        (" abcde", "abcde"),
        ("ab*", "ab\\*"),
        ("abcd*", "abcd…"),
        ("abc*e", "abc…"),
        ("ab*de", "ab\\*…"),
        ("*****", "\\*\\*…"),
    ],
)
def test_what_is_too_long_is_cut_at_a_whole_character(text: str, shown: str) -> None:
    assert escaped(text, 5) == shown


@given(st.text(max_size=700), st.integers(2, 300))
def test_it_is_never_too_long_and_never_ends_within_a_character(text: str, most: int) -> None:
    shown = escaped(text, most)
    assert len(shown) <= most
    assert re.fullmatch(r"(?:\\[^0-9A-Za-z\s]|[^\\])*", shown, re.DOTALL)


@given(st.sampled_from(EVENTS), st.text(max_size=400), st.text(max_size=5_000), st.text(max_size=200))
def test_discord_takes_whatever_was_written(event: DiscordEvent, title: str, text: str, name: str) -> None:
    message = sent(event, title=f"x{title}", text=text, player_name=name, network_name=name)
    assert complaints(message) == {}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Sky", "Sky"),
        ("  Sky\tIslands ", "Sky Islands"),
        ("x" * 100, "x" * 80),
        ("My Discord", None),
        ("DISCORD", None),
        ("ｄｉｓｃｏｒｄ", None),
        ("dis\u200dcord", None),
        ("Clyde's", None),
        ("everyone", None),
        ("here", None),
        ("a@b", None),
        ("a#b", None),
        ("", None),
    ],
)
def test_under_which_name(name: str, shown: str | None) -> None:
    assert username_of(name) == shown
