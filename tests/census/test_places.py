"""The reader of memory finds collections by the way that leads to them, and tells who holds what."""

from functools import partial

from tests.census.places import walk
from tests.census.referrers import chains


class Owner:
    """Holds things in every way that there is."""

    __slots__ = ("__dict__", "slot")

    def __init__(self) -> None:
        things: list[object] = [object()]
        self.slot = {"many": [object(), object()], "few": [object()]}
        self.nested = {"deep": ({object()},)}
        self.closed_over = lambda: things
        self.argument = partial(print, [object()] * 5)


def test_each_collection_has_a_place() -> None:
    assert walk([("owner", Owner())], ()).sizes == {
        "owner.slot": 2,
        "owner.slot[]": 3,
        "owner.nested": 1,
        "owner.nested[][]": 1,
        "owner.closed_over<things>": 1,
        "owner.argument.args[]": 5,
        "owner.argument.keywords": 0,
    }


def test_below_what_is_kept_all_is_accounted_for_and_nothing_counted() -> None:
    owner = Owner()
    held = walk([("owner", owner)], ["owner.slot"])
    assert "owner.slot" in held.sizes
    assert "owner.slot[]" not in held.sizes
    assert {id(one) for one in owner.slot["many"]} <= held.accounted
    assert not {id(one) for many in owner.nested["deep"] for one in many} & held.accounted


def test_several_at_one_place_count_together() -> None:
    assert walk([("owner", [1]), ("owner", [2, 3])], ()).sizes == {"owner": 3}


def test_a_chain_leads_to_who_holds_it() -> None:
    owner = Owner()
    held = [owner.slot["few"]]
    assert chains(held, hops=2) == [f"list of 1 < dict of 2 < {__name__}.Owner"]
