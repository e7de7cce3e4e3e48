"""Null for what may be left out, in bodies and in commands of the live socket."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, UnsetType

from actors.errors import Invalid
from routes.edge.nulls import convert
from routes.edge.wire import Shape, Wire, decode, encode


class Leaf(Wire, frozen=True, tag_field="kind", tag="leaf"):
    veins: int = 3


class Thorn(Wire, frozen=True, tag_field="kind", tag="thorn"):
    veins: str = "none"


class Branch(Wire, frozen=True):
    name: str
    is_alive: bool = True
    bark: Literal["rough", "smooth"] = "rough"
    leaves: tuple[Leaf, ...] = ()
    grown: Annotated[dict[str, Leaf | Thorn], Meta(max_length=3)] = msgspec.field(default_factory=dict)
    next: "Branch | None" = None
    renamed: str | UnsetType = UNSET


NULLS: list[tuple[Any, Branch]] = [
    ({"name": "a", "isAlive": None}, Branch("a")),
    ({"name": "a", "bark": None, "leaves": None, "grown": None}, Branch("a")),
    ({"name": "a", "leaves": [{"kind": "leaf", "veins": None}]}, Branch("a", leaves=(Leaf(),))),
    ({"name": "a", "grown": {"x": {"kind": "thorn", "veins": None}}}, Branch("a", grown={"x": Thorn()})),
    ({"name": "a", "next": {"name": "b", "isAlive": None, "next": None}}, Branch("a", next=Branch("b"))),
    ({"name": "a", "isAlive": None, "of another release": None}, Branch("a")),
]


@pytest.mark.parametrize(("values", "meant"), NULLS)
def test_null_stands_for_the_default(values: Any, meant: Branch) -> None:
    assert decode(encode(values), Shape(Branch)) == meant


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"name": None}, "/name"),
        ({"name": "a", "renamed": None}, "/renamed"),
        ({"name": "a", "isAlive": None, "bark": "soft"}, "/bark"),
        ({"name": "a", "isAlive": None, "leaves": [None]}, "/leaves/0"),
        ({"name": "a", "isAlive": None, "grown": {"x": {"kind": None}}}, "/grown"),
        ({"name": "a", "isAlive": None, "next": {}}, "/next/name"),
    ],
)
def test_any_other_null_is_an_error(values: Any, pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        decode(encode(values), Shape(Branch))
    assert refused.value.errors[0].pointer == pointer


_members = st.fixed_dictionaries(
    {"name": st.text(max_size=3)},
    optional={
        "isAlive": st.booleans() | st.none(),
        "bark": st.sampled_from(["rough", "smooth", None]),
        "leaves": st.none() | st.lists(st.just({"kind": "leaf", "veins": None}), max_size=2),
    },
)


@given(
    st.recursive(
        _members, lambda inner: st.tuples(_members, inner).map(lambda two: two[0] | {"next": two[1]})
    )
)
def test_it_is_as_though_nulls_were_left_out(values: Any) -> None:
    assert convert(values, Branch) == msgspec.convert(_left_out(values), Branch)


def _left_out(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _left_out(member) for name, member in value.items() if member is not None}
    return [_left_out(item) for item in value] if isinstance(value, list) else value
