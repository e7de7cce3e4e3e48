"""A kind's `version` rises when the form of its snapshots changes: one of before would be read as what it is not.

`snapshot_forms.csv`, here or beside the tests of a domain, has the form of each version, as a digest. Lines are only
added: a changed line would say that snapshots of one version have two forms.
"""

import csv
import hashlib
import typing
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from msgspec import inspect

from actors.chat.window import Line, Window
from tests.contract.sources import ROOT

EMPTIED: dict[str, frozenset[str]] = {
    "chat": frozenset({"read_notices_sent_ms", "read_notices_due", "looked_up", "doubtful"}),
    "connect": frozenset(
        [
            "commands",
            "settings",
            "registrations",
            "actions",
            "members",
            "invites",
            "found",
            "relation",
            "template",
        ]
    ),
    "party": frozenset({"erased", "expected", "trail", "looked_up"}),
    "voice": frozenset({"sessions", "looked_up"}),
}
"""{domain: the fields of its `State` that `dump` empties}: what they hold is in no snapshot."""

HOOKED: dict[type, Any] = {Window: list[Line]}
"""{type: what it is encoded as}, of those that msgspec asks a hook for."""


def versioned() -> Iterator[tuple[str, ModuleType]]:
    """(domain, the module with its `VERSION`) of each kind."""
    for path in sorted((ROOT / "actors").glob("*/*.py")):
        if "\nVERSION = " in path.read_text():
            yield path.parent.name, import_module(f"actors.{path.parent.name}.{path.stem}")


def form(type_: inspect.Type, left_out: frozenset[str] = frozenset(), above: tuple[type, ...] = ()) -> str:
    """The form of what is encoded of a type, as a text that is equal for equal ones."""
    match type_:
        case inspect.StructType(cls=cls) | inspect.DataclassType(cls=cls) | inspect.NamedTupleType(cls=cls):
            if cls in above:
                return cls.__name__  # which is within itself
            tag, flat = getattr(type_, "tag", None), getattr(type_, "array_like", False)
            fields = [
                f"{one.encode_name}:{form(one.type, above=(*above, cls))}{'' if one.required else '?'}"
                for one in type_.fields
                if one.name not in left_out
            ]
            return f"{'array' if flat else 'map'} {tag}({', '.join(fields)})"
        case inspect.CustomType(cls=cls):
            return form(inspect.type_info(HOOKED[typing.get_origin(cls) or cls]), above=above)
        case inspect.UnionType(types=types):
            named = [form(one, above=above) for one in types]
            return f"union({', '.join(sorted(named))})"
        case inspect.TupleType(item_types=types):
            return f"tuple({', '.join(form(one, above=above) for one in types)})"
        case inspect.DictType(key_type=key, value_type=value):
            return f"dict({form(key, above=above)}, {form(value, above=above)})"
        case inspect.CollectionType(item_type=item):
            return f"list({form(item, above=above)})"
        case inspect.LiteralType(values=values):
            return f"one of {sorted(map(str, values))}"
        case inspect.EnumType(cls=cls):
            return f"one of {sorted(str(one.value) for one in cls)}"
        case inspect.Metadata(type=inner):
            return form(inner, above=above)
        case _:
            return type(type_).__name__


@pytest.mark.parametrize(("domain", "module"), list(versioned()), ids=[one for one, _ in versioned()])
def test_the_version_rises_with_the_form(domain: str, module: ModuleType) -> None:
    state = module.State
    said = form(inspect.type_info(state), EMPTIED.get(domain, frozenset()))
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    known = {
        (row["domain"], int(row["version"])): row["form"]
        for path in (ROOT / "tests").glob("*/snapshot_forms.csv")
        for row in csv.DictReader(path.read_text().splitlines())
    }
    line = f"{domain},{module.VERSION},{digest}"
    assert known.get((domain, module.VERSION)) == digest, (
        f"snapshots of {domain} have another form than in version {module.VERSION}: raise VERSION in"
        f" {module.__name__}, and add its line to snapshot_forms.csv (with the present one: {line}). Now: {said}"
    )
    assert max(version for one, version in known if one == domain) == module.VERSION


def test_what_is_left_out_is_there() -> None:
    assert EMPTIED.keys() <= {domain for domain, _ in versioned()}
    for domain, module in versioned():
        names = {one.name for one in typing.cast(Any, inspect.type_info(module.State)).fields}
        assert names >= EMPTIED.get(domain, frozenset())
