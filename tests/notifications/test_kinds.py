"""Every kind of notification says what holds for it, and the console has a sentence for each in every language."""

import json
from pathlib import Path
from typing import get_args

import pytest

from persistence.notifications.kinds import KINDS, NotificationKind

TEXTS = sorted((Path(__file__).resolve().parents[2] / "routes/console/static/text").glob("*.play.json"))


def test_all_have_their_rules() -> None:
    assert set(KINDS) == set(get_args(NotificationKind)), "KINDS says what holds for each NotificationKind"


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
@pytest.mark.parametrize("kind", KINDS)
def test_the_console_has_words_for_it(kind: str, file: Path) -> None:
    assert any(name.startswith(f"notifications.kind.{kind}") for name in json.loads(file.read_text()))
