"""A quota that is reached is told with its limit, wherever it is reached."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.errors import QuotaExceeded
from actors.field_errors import FieldError
from tests.contract.sources import ROOT


def _raised() -> Iterator[tuple[Path, ast.Call]]:
    for folder in ("actors", "routes"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "QuotaExceeded":
                    yield path, node


def test_no_quota_is_exceeded_without_its_limit():
    with pytest.raises(TypeError):
        QuotaExceeded(FieldError("", "TOO_MANY", "too many"))  # type: ignore[call-arg]
    refused = QuotaExceeded(FieldError("/name", "TOO_MANY", "at most 5"), max=5, used=5)
    assert (refused.meta, refused.message) == ({"max": 5, "used": 5}, "at most 5")
    raised = list(_raised())
    assert len(raised) > 20
    assert [path for path, call in raised if "max" not in {one.arg for one in call.keywords}] == []
