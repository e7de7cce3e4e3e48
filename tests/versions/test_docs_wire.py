"""The example of docs/versions.md does what the text says."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature

from actors.time import iso
from tests.contract.sources import ROOT
from tests.support.world import World
from tests.versions.play import KEYS, a_publisher, resolved


def example() -> Callable[..., int]:
    """The function of the document."""
    text = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "docs/versions.md", "exec"), names)  # our own document
    check: Callable[..., int] = names["check"]
    return check


async def test_the_example_takes_what_is_genuine_and_nothing_else(world: World) -> None:
    publisher, check = await a_publisher(world), example()
    keys = {one["keyId"]: one["publicKey"] for one in (await world.nobody().get(KEYS))["items"]}
    now = datetime.fromisoformat(iso(world.clock.now_ms()))
    await publisher.published("1.0.0", notes='Ünïcode \u2028 "x"\n')
    old = await resolved(world, "0.1.0")
    assert check(old, keys, 0, now) == 1
    await publisher.published("2.0.0")
    new = await resolved(world, "0.1.0")
    assert check(new, keys, 1, now) == 2
    with pytest.raises(ValueError, match="an old answer"):
        check(old, keys, 2, now)
    assert check(new, keys, 2, now + timedelta(hours=23)) == 2
    with pytest.raises(ValueError, match="expired"):
        check(new, keys, 2, now + timedelta(hours=25))
    with pytest.raises(InvalidSignature):
        check({**new, "scope": {"type": "launcher", "id": "other"}}, keys, 2, now)
    with pytest.raises(KeyError):
        check(new, {}, 2, now)
