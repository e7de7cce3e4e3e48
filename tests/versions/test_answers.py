"""Answers that are kept keep no state of a scope but its present one."""

import gc

import pytest

from actors.versions import answers as module
from actors.versions.answers import Answers
from actors.versions.resolving import ScopeState
from persistence.versions.releases import Scope

HUB = Scope("launcher", "hub")


def _state(scope: Scope = HUB) -> ScopeState:
    return ScopeState(scope, {}, {}, frozenset(), ())


def _states() -> int:
    gc.collect()
    return sum(isinstance(one, ScopeState) for one in gc.get_objects())


def test_a_former_state_goes_with_the_next_answer() -> None:
    """Though each was asked for something else: a state may be a thousand times as large as an answer."""
    before, kept = _states(), Answers()
    for number in range(100):
        kept.keep(("asked", number), _state(), b"answer")
    assert _states() - before == 1


def test_answers_are_of_the_present_state() -> None:
    former, present, kept = _state(), _state(), Answers()
    kept.keep("a", former, b"old")
    assert kept.get("a", former) == b"old"
    assert kept.get("a", present) is None
    kept.keep("b", present, b"new")
    assert kept.get("a", former) is kept.get("a", present) is None
    assert kept.get("b", present) == b"new"


def test_of_two_scopes_each_keeps_its_own() -> None:
    here, there, kept = _state(), _state(Scope("extension", "m")), Answers()
    kept.keep("a", here, b"here")
    kept.keep("a", there, b"there")
    assert (kept.get("a", here), kept.get("a", there)) == (b"here", b"there")


def test_the_least_recently_used_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 30)
    state, kept = _state(), Answers()
    for asked in "abc":
        kept.keep(asked, state, b"x" * 10)
    assert kept.get("a", state) is not None
    kept.keep("d", state, b"x" * 10)
    kept.keep("d", state, b"y" * 10)
    assert [asked for asked in "abcd" if kept.get(asked, state) is not None] == ["a", "c", "d"]


def test_of_many_scopes_those_asked_for_longest_ago_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SCOPES_MAX", 2)
    before, kept = _states(), Answers()
    for number in range(5):
        kept.keep("a", _state(Scope("extension", str(number))), b"answer")
    assert _states() - before == 2
