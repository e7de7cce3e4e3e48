"""What a check means for a claim, and which records a network is to have: tables, without a database."""

import pytest

from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.networks.records import record_of_route, records_of_claim
from actors.networks.units_claims import LAPSED_MS, WRONG_VALUE, Lookup, failed, holds, seen, verified
from actors.networks.units_networks import NetworkChange, changed_by
from persistence.networks.rows import DomainRow, NetworkRow

NOW = 1_800_000_000_000
RECORD = "svc-network=abc"


def _claim(**more: object) -> DomainRow:
    base = {"id": "0" * 24, "network_id": "n", "domain": "a.example.com", "token": "abc"}
    return DomainRow(**{**base, "created_at_ms": 1, "updated_at_ms": 1, **more})  # type: ignore[arg-type]


# {status before: (after the record was seen, after it was not)}
STATUSES = {
    "pending": ("verified", "failed"),
    "failed": ("verified", "failed"),
    "verified": ("verified", "verified"),
}


@pytest.mark.parametrize(("before", "after"), STATUSES.items())
def test_the_table_of_states(before: str, after: tuple[str, str]):
    claim = _claim(status=before, verified_at_ms=5 if before == "verified" else None)
    good, bad = verified(claim, Lookup([RECORD]), NOW), failed(claim, Lookup(["x"]), WRONG_VALUE, NOW)
    assert (good.status, bad.status) == after
    assert good.verified_at_ms == (5 if before == "verified" else NOW)
    assert (good.confirmed_at_ms, good.verification_errors, good.observed) == (NOW, [], [RECORD])
    assert (bad.verification_errors, bad.observed, bad.last_checked_at_ms) == ([WRONG_VALUE], ["x"], NOW)
    assert bad.verified_at_ms == claim.verified_at_ms


def test_a_record_is_seen_among_others():
    claim = _claim()
    assert seen(claim, Lookup(["x", RECORD, "\ufffd"]))
    for values in ([], ["x"], [f"{RECORD} "], ["svc-network="], ["svc-network=abd"], ["\ud800"]):
        assert not seen(claim, Lookup(values))


@pytest.mark.parametrize(
    ("values", "age_ms", "expected"),
    [
        ([RECORD], 10 * LAPSED_MS, True),
        ([], 0, True),
        ([], LAPSED_MS - 1, True),
        ([], LAPSED_MS, False),
    ],
)
def test_how_long_a_verified_claim_holds(values: list[str], age_ms: int, expected: bool):
    holder = _claim(status="verified", confirmed_at_ms=NOW - age_ms)
    assert holds(holder, Lookup(values), NOW) is expected


@pytest.mark.parametrize(
    ("zone", "gateway", "expected"),
    [
        (None, "gw.test", []),
        ("example.org", "gw.test", []),
        ("ample.com", "gw.test", []),
        ("example.com", None, ["TXT"]),
        ("example.com", "gw.test", ["TXT", "CNAME"]),
        ("example.com", "192.0.2.1", ["TXT", "A"]),
        ("a.example.com", "gw.test", ["TXT", "CNAME"]),
        ("b.a.example.com", "gw.test", []),
    ],
)
def test_the_records_of_a_claim(zone: str | None, gateway: str | None, expected: list[str]):
    assert [task.type for task in records_of_claim(_claim(), zone, gateway, NOW)] == expected


@pytest.mark.parametrize(
    ("host", "made"), [("x.example.com", 1), ("a.example.com", 0), ("x.example.org", 0), ("example.com", 1)]
)
def test_the_record_of_a_route(host: str, made: int):
    tasks = record_of_route(
        "n", host, "gw.test", aliases={"a.example.com"}, zone="example.com", due_at_ms=NOW
    )
    assert len(tasks) == made


def _network() -> NetworkRow:
    return NetworkRow(network_id="n", id="0" * 24, name="Sky", owner_id="u", created_at_ms=1, updated_at_ms=1)


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        (NetworkChange(slug="AB"), "/slug"),
        (NetworkChange(slug="abc\n"), "/slug"),
        (NetworkChange(public_profile_mode="share_code"), "/publicProfileShareCode"),
        (NetworkChange(public_profile_share_code="a b"), "/publicProfileShareCode"),
        (NetworkChange(public_profile_share_code="a" * 65), "/publicProfileShareCode"),
    ],
)
def test_what_a_network_cannot_be(wish: NetworkChange, pointer: str):
    with pytest.raises(Invalid) as refused:
        changed_by(_network(), wish)
    errors: tuple[FieldError, ...] = refused.value.errors
    assert [error.pointer for error in errors] == [pointer]


def test_what_is_left_out_stays():
    row = _network()
    assert changed_by(row, NetworkChange()) == row
    changed = changed_by(row, NetworkChange(slug="sky", public_summary="Above"))
    assert (changed.slug, changed.public_summary, changed.name) == ("sky", "Above", "Sky")
    assert changed_by(changed, NetworkChange(slug=None)).slug is None
