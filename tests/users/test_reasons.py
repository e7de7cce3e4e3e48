"""Rules: the reason of a verdict agrees with the verdict (contract §2, service-api §5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.users.permissions import ABSENT_GRANTS, BUILT_IN_NODES, Role, resolve
from actors.users.reasons import Right, explain, nodes_to_explain
from persistence.users.permissions import Grant

NOW_MS = 1_000_000
NODES = sorted(BUILT_IN_NODES | ABSENT_GRANTS)
PATTERNS = ["admin:*:*", "*:*:*", "*:*", "social:*", "shop:manage", "social:friends.max", "totem:read", "a:b"]

GRANTS = st.builds(
    Grant,
    node=st.sampled_from([*PATTERNS, *NODES]),
    negated=st.booleans(),
    expires_at_ms=st.sampled_from([None, NOW_MS - 1, NOW_MS, NOW_MS + 1]),
    value=st.sampled_from([None, 5.0, 70.0]),
    begins_at_ms=st.sampled_from([0, NOW_MS, NOW_MS + 1]),
)
RIGHTS = st.builds(Right, grant=GRANTS, purchase_id=st.sampled_from([None, "0" * 24]))


@given(st.lists(RIGHTS, max_size=6), st.sets(st.sampled_from(Role)), st.sets(st.sampled_from(NODES)))
def test_a_verdict_is_what_the_rules_say(rights: list[Right], roles: set[Role], catalog: set[str]) -> None:
    access = resolve(roles, [right.grant for right in rights], catalog, NOW_MS)
    nodes = nodes_to_explain(catalog, rights)
    assert nodes == sorted(set(nodes))
    for node in {*nodes, *NODES, "c:d"}:
        verdict = explain(node, roles, rights, catalog, NOW_MS)
        assert (verdict.allowed, verdict.quantity) == (access.allows(node), access.quota(node)), node
        assert (verdict.right is not None) == (verdict.decider in {"denied", "granted", "bought"})
        assert (verdict.role is not None) == (verdict.decider == "role")


def right(node: str, *, negated: bool = False, ends: int | None = None, bought: bool = False) -> Right:
    return Right(Grant(node, negated, ends), "0" * 24 if bought else None)


@pytest.mark.parametrize(
    ("rights", "roles", "decider", "named"),
    [
        ([], set(), "nothing", None),
        ([], {Role.ADMIN}, "role", "admin"),
        ([], {Role.ADMIN, Role.SUPER_ADMIN}, "role", "admin"),
        ([], {Role.SUPER_ADMIN}, "role", "super-admin"),
        ([right("shop:*")], {Role.ADMIN}, "granted", "shop:*"),
        ([right("shop:*"), right("shop:manage", ends=NOW_MS + 1)], set(), "granted", "shop:manage"),
        ([right("shop:manage", ends=NOW_MS)], set(), "nothing", None),
        ([right("shop:manage", bought=True)], set(), "bought", "shop:manage"),
        (
            [right("shop:manage", ends=NOW_MS + 9), right("*:manage", negated=True)],
            set(),
            "denied",
            "*:manage",
        ),
    ],
)
def test_the_reason_names_the_right_or_role_that_decides(
    rights: list[Right], roles: set[Role], decider: str, named: str | None
) -> None:
    verdict = explain("shop:manage", roles, rights, BUILT_IN_NODES, NOW_MS)
    found = verdict.role.value if verdict.role else verdict.right and verdict.right.grant.node
    assert (verdict.decider, found) == (decider, named)
