"""The rules of Discord for a message to a webhook: lengths, names and mentions."""

from collections.abc import Iterator, Mapping
from typing import Any

LENGTHS = {"title": 256, "description": 4_096}
MOST_EMBEDS = 10
MOST_IN_ALL = 6_000
MOST_CONTENT = 2_000
MOST_USERNAME = 80


def complaints(message: Mapping[str, Any]) -> dict[str, str]:
    """{field: what is wrong with it}; empty where the message is taken."""
    return dict(_complaints(message))


def _complaints(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    embeds = message.get("embeds", [])
    if not message.get("content") and not embeds:
        yield "message", "Cannot send an empty message"
    if len(message.get("content", "")) > MOST_CONTENT:
        yield "content", "Must be 2000 or fewer in length."
    if len(embeds) > MOST_EMBEDS:
        yield "embeds", "Must be 10 or fewer in length."
    for place, embed in enumerate(embeds):
        for name, most in LENGTHS.items():
            if len(embed.get(name, "")) > most:
                yield f"embeds.{place}.{name}", f"Must be {most} or fewer in length."
        if not embed.get("title") and not embed.get("description") and not embed.get("image"):
            yield f"embeds.{place}", "This field is required"
    if sum(len(embed.get(name, "")) for embed in embeds for name in LENGTHS) > MOST_IN_ALL:
        yield "embeds", "Embed size exceeds maximum size of 6000"
    username = message.get("username")
    if username is not None:
        if not 1 <= len(username) <= MOST_USERNAME:
            yield "username", "Must be between 1 and 80 in length."
        if any(word in username.casefold() for word in ("discord", "clyde")):
            yield "username", "Username cannot contain that"
