"""Rules: what a node, a grant and a role come to (contract §2, service-api §5)."""

import itertools
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.users.permissions import (
    ABSENT_GRANTS,
    BUILT_IN_NODES,
    QUOTA_UNITS,
    ROLE_NODES,
    Access,
    Role,
    covers,
    is_node,
    moved_by,
    resolve,
)
from persistence.users.permissions import Grant

NOW_MS = 1_000_000
FRESH = BUILT_IN_NODES


def an_access(*grants: Grant, roles=(), catalog=FRESH) -> Access:
    return resolve(roles, grants, frozenset(catalog) | {grant.node for grant in grants}, NOW_MS)


@pytest.mark.parametrize(
    ("pattern", "node", "answer"),
    [
        ("a:b", "a:b", True),
        ("a:b", "a:c", False),
        ("a:*", "a:b", True),
        ("a:*", "a:b:c", False),
        ("a:*", "a", False),
        ("*", "a", True),
        ("*", "a:b", False),
        ("*:*", "a:b", True),
        ("*:b:*", "a:b:c", True),
        ("*:b:*", "a:c:c", False),
        ("social:*", "social:chat.read", True),
        ("social:chat.*", "social:chat.read", False),
        ("a:b", "A:b", False),
    ],
)
def test_a_star_is_exactly_one_segment(pattern, node, answer):
    assert covers(pattern, node) is answer


SEGMENTS = st.sampled_from(["a", "b", "chat.read", "*"])


@given(st.lists(SEGMENTS, min_size=1, max_size=4), st.lists(SEGMENTS, min_size=1, max_size=4))
def test_patterns_mean_what_a_regular_expression_would(pattern, node):
    node = [segment.replace("*", "star") for segment in node]
    expression = ":".join("[^:]+" if segment == "*" else re.escape(segment) for segment in pattern)
    assert covers(":".join(pattern), ":".join(node)) is (re.fullmatch(expression, ":".join(node)) is not None)


@pytest.mark.parametrize(
    "text",
    ["social:chat.read", "*", "a:*:b", "svc.connect.extensions.My-Ext_1", "profile-share.max", "a" * 200],
)
def test_a_permission_node_is_accepted(text):
    assert is_node(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "a:",
        ":a",
        "a::b",
        "a b",
        "a:**",
        "a:b*",
        "a/b",
        "../a",
        "a%2Fb",
        "ä:b",
        "a\n",
        "a.",
        ".a",
        "a" * 201,
    ],
)
def test_what_is_no_permission_node_is_refused(text):
    assert not is_node(text)


GIVEN = Grant("connect:social.act")
NEGATED = Grant("connect:social.act", negated=True)
EXPIRED = Grant("connect:social.act", expires_at_ms=NOW_MS)
EXPIRED_NEGATED = Grant("connect:social.act", negated=True, expires_at_ms=NOW_MS)
ALIVE = Grant("connect:social.act", expires_at_ms=NOW_MS + 1)
WIDE = Grant("connect:*")
WIDE_NEGATED = Grant("connect:*", negated=True)
MUST_BE_HELD = [
    ("nothing", (), (), False),
    ("granted", (GIVEN,), (), True),
    ("by pattern", (WIDE,), (), True),
    ("negated", (NEGATED,), (), False),
    ("expired", (EXPIRED,), (), False),
    ("about to expire", (ALIVE,), (), True),
    ("granted, pattern negated", (GIVEN, WIDE_NEGATED), (), False),
    ("negated, pattern granted", (NEGATED, WIDE), (), False),
    ("expired negation, pattern granted", (EXPIRED_NEGATED, WIDE), (), True),
    ("moderator", (), ("moderator",), False),
    ("admin", (), ("admin",), False),
    ("super-admin", (), ("super-admin",), True),
    ("super-admin, negated", (NEGATED,), ("super-admin",), False),
    ("super-admin, negation expired", (EXPIRED_NEGATED,), ("super-admin",), True),
]


@pytest.mark.parametrize(
    ("grants", "roles", "answer"), [row[1:] for row in MUST_BE_HELD], ids=[r[0] for r in MUST_BE_HELD]
)
def test_a_node_that_must_be_held(grants, roles, answer):
    assert an_access(*grants, roles=roles).allows("connect:social.act") is answer


@pytest.mark.parametrize("node", sorted(ABSENT_GRANTS))
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("grant", "absent_answer", "known_answer"),
    [
        (None, True, False),
        (Grant("{}"), True, True),
        (Grant("{}", negated=True), False, False),
        (Grant("{}", expires_at_ms=NOW_MS), True, False),
        (Grant("{}", negated=True, expires_at_ms=NOW_MS), True, False),
    ],
    ids=["missing", "granted", "negated", "expired", "negated, expired"],
)
def test_a_node_that_grants_while_absent(node, known, grant, absent_answer, known_answer):
    """A grant adds its node to the catalog: a granted yet absent node is a matter of moments."""
    grants = () if grant is None else (Grant(node, grant.negated, grant.expires_at_ms),)
    access = resolve((), grants, FRESH | ({node} if known else set()), NOW_MS)
    assert access.allows(node) is (known_answer if known else absent_answer)


def test_a_pattern_in_the_catalog_is_not_the_nodes_that_it_covers():
    access = an_access(catalog=FRESH | {"social:*"})
    assert access.allows("social:chat.read")


def test_absence_grants_nowhere_else():
    access = an_access(catalog=())
    others = (
        {*BUILT_IN_NODES, "social:chat.moderate", "social:friends.manage", "totem:admin", "social:chat:read"}
        - ROLE_NODES[Role.USER]
        - QUOTA_UNITS.keys()
    )
    assert [node for node in sorted(others) if access.allows(node)] == []


@pytest.mark.parametrize("role", list(ROLE_NODES))
def test_roles_have_their_own_nodes_and_everybody_those_of_user(role):
    access = an_access(roles=() if role is Role.USER else (role.value,))
    expected = ROLE_NODES[role] | ROLE_NODES[Role.USER]
    assert {node for node in FRESH - QUOTA_UNITS.keys() if access.allows(node)} == expected


@pytest.mark.parametrize(
    ("roles", "label", "moderator", "super_admin"),
    [
        ((), "User", False, False),
        (("moderator",), "Moderator", True, False),
        (("admin",), "Admin", True, False),
        (("moderator", "admin"), "Admin", True, False),
        (("moderator", "super-admin"), "Super Admin", True, True),
    ],
)
def test_the_highest_role_gives_label_and_powers(roles, label, moderator, super_admin):
    access = an_access(roles=roles)
    assert (access.highest_role_label, access.is_moderator, access.is_super_admin) == (
        label,
        moderator,
        super_admin,
    )


@pytest.mark.parametrize("node", sorted(QUOTA_UNITS))
def test_quota_nodes_gate_nothing_and_are_not_listed(node):
    for grants in ((), (Grant(node),), (Grant(node, negated=True),), (Grant("social:*", negated=True),)):
        access = an_access(*grants)
        assert access.allows(node)
        assert node not in access.held


@pytest.mark.parametrize(
    ("grant", "value"),
    [
        (None, None),
        (Grant("social:friends.max", value=5.0), 5),
        (Grant("social:friends.max", value=0.0), 0),
        (Grant("social:friends.max"), None),
        (Grant("social:friends.max", negated=True, value=5.0), None),
        (Grant("social:friends.max", expires_at_ms=NOW_MS, value=5.0), None),
        (Grant("social:*", value=5.0), None),
    ],
)
def test_a_quota_is_the_value_of_a_grant_that_holds(grant, value):
    quantity = an_access(*([] if grant is None else [grant])).quota("social:friends.max")
    assert (None if quantity is None else quantity.number) == value


def test_held_is_what_allows_says():
    grants = [
        Grant("a:b"),
        Grant("a:*"),
        Grant("c:*", negated=True),
        Grant("c:d"),
        Grant("e:f", expires_at_ms=NOW_MS),
    ]
    for count, roles in itertools.product(range(len(grants) + 1), [(), ("admin",), ("super-admin",)]):
        access = an_access(*grants[:count], roles=roles)
        assert list(access.held) == sorted(set(access.held))
        assert all(access.allows(node) for node in access.held if "*" not in node)
        named = (access.catalog | ABSENT_GRANTS) - QUOTA_UNITS.keys()
        assert {node for node in named if "*" not in node and access.allows(node)} <= set(access.held)


# Of few segments, so that patterns cover nodes and grants contradict each other; and those with rules of their own.
NODES = st.lists(SEGMENTS, min_size=1, max_size=3).map(":".join) | st.sampled_from(
    sorted({*ABSENT_GRANTS, *BUILT_IN_NODES, "social:*", "*:chat.read", "connect:*:read", "*:*", "*:*:*"})
)
GRANTS = st.builds(Grant, NODES, st.booleans(), st.sampled_from([None, NOW_MS, NOW_MS + 1]))
ROLES = st.sets(st.sampled_from([role.value for role in Role]))


def held_of_whole_catalog(access: Access) -> tuple[str, ...]:
    """What `held` means: every node that there is, looked at one by one."""
    named = (access.catalog | ABSENT_GRANTS | access.granted) - QUOTA_UNITS.keys()
    return tuple(sorted(n for n in named if ("*" not in n or n in access.granted) and access.allows(n)))


@given(ROLES, st.lists(GRANTS, max_size=6), st.sets(NODES, max_size=20), st.booleans(), st.booleans())
def test_held_is_what_a_look_at_the_whole_catalog_finds(roles, grants, others, seeded, noted):
    """Also of a catalog that lacks nodes of roles, or has not heard yet of what is granted."""
    catalog = (
        others | (BUILT_IN_NODES if seeded else set()) | ({one.node for one in grants} if noted else set())
    )
    access = resolve(roles, grants, catalog, NOW_MS)
    for one in (access, access.capped()):
        assert one.held == held_of_whole_catalog(one)
        assert one.held is one.held


@given(ROLES, st.lists(GRANTS, max_size=6), st.sets(NODES, max_size=10), st.lists(NODES, max_size=6))
def test_held_stays_right_while_the_catalog_grows(roles, grants, others, added):
    """Whether it was read before or is read after: of whom a node does not move, it is the same."""
    catalog = {*BUILT_IN_NODES, *others, *(one.node for one in grants)}
    read, unread = (resolve(roles, grants, catalog, NOW_MS) for _ in range(2))
    first = read.held
    for node in added:
        if node not in catalog and moved_by(read, node):
            return
        catalog.add(node)
    assert first == unread.held == held_of_whole_catalog(read)


class Watched(AbstractSet[str]):
    """A catalog that tells how often somebody went through all of it."""

    def __init__(self, nodes: AbstractSet[str]) -> None:
        self.nodes = nodes
        self.walks = 0

    def __contains__(self, node: object) -> bool:
        return node in self.nodes

    def __iter__(self) -> Iterator[str]:
        self.walks += 1
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)


@pytest.mark.parametrize(
    ("grants", "roles", "walks"),
    [
        ((GIVEN, WIDE_NEGATED), (), 0),
        ((GIVEN,), ("moderator", "admin"), 0),
        ((GIVEN, WIDE), (), 1),
        ((), ("super-admin",), 1),
    ],
)
def test_the_catalog_is_walked_for_those_alone_who_may_have_anything_in_it(grants, roles, walks):
    """Anybody may make it larger, and rights are resolved at each load of a user."""
    catalog = Watched(FRESH)
    access = resolve(roles, grants, catalog, NOW_MS)
    assert access.allows("versions:read")
    assert catalog.walks == 0
    assert access.held
    assert access.held
    assert catalog.walks == walks


def test_valid_until_is_the_next_expiry():
    access = an_access(ALIVE, Grant("a", expires_at_ms=NOW_MS + 5), EXPIRED, Grant("b"))
    assert access.valid_until_ms == NOW_MS + 1
    assert an_access(GIVEN).valid_until_ms is None
