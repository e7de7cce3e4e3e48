"""Wire: the admin's routes, who may call them, and what they answer (service-api §4 Admin)."""

import pytest

from tests.support.one_world import in_one_world
from tests.users.parts import ANN, BEN, NOBODY, NOW_MS, ROOT

PERMISSIONS = f"/v1/admin/users/{ANN}/permissions"
VIEW = [("GET", "/v1/admin/users/lookup?query=a"), ("GET", f"/v1/admin/users/{ANN}")]
SUPER = [
    ("GET", "/v1/admin/permissions"),
    ("DELETE", "/v1/admin/permissions/totem:read"),
    ("GET", PERMISSIONS),
    ("POST", PERMISSIONS),
    ("DELETE", f"{PERMISSIONS}/a:b"),
    ("GET", "/v1/admin/audit"),
]
AT = "2027-01-15T08:00:00.000Z"
BODIES = {"POST": {"node": "a:b"}}
PRINCIPALS = {
    "anonymous": (None, (), "401", "401"),
    "user": ("user", (), "403", "403"),
    "moderator": ("moderator", (), "403", "403"),
    "admin": ("admin", (), "2xx", "403"),
    "holds the node": ("user", ("admin:user:view",), "2xx", "403"),
    "holds it by pattern": ("user", ("admin:*:view",), "2xx", "403"),
    "holds a longer pattern": ("user", ("admin:*",), "403", "403"),
    "holds everything else": ("user", ("*", "*:*", "admin:permissions:edit"), "403", "403"),
    "admin without it": ("admin", ("-admin:user:view",), "403", "403"),
    "super-admin": ("super-admin", (), "2xx", "2xx"),
    "super-admin without it": ("super-admin", ("-admin:*:*",), "403", "2xx"),
}


@pytest.mark.parametrize(("role", "grants", "view", "edit"), PRINCIPALS.values(), ids=PRINCIPALS)
async def test_each_principal_may_view_and_edit_as_the_table_says(people, role, grants, view, edit):
    await people.make(ANN)
    token = None
    if role is not None:
        token = await people.make(BEN, role=None if role == "user" else role, grants=grants)
    cells = [(view, *route) for route in VIEW] + [(edit, *route) for route in SUPER]
    for expected, method, path in cells:
        answer = await people.call(token, method, path, BODIES.get(method, b""))
        assert (f"{answer.status // 100}xx" if answer.status < 300 else str(answer.status)) == expected, path
        if expected == "403":
            assert answer.code == "FORBIDDEN"
        if expected != "2xx":
            assert b"user-" not in answer.body


@pytest.fixture
async def root(people):
    return await people.make(ROOT, "Root", role="super-admin")


@pytest.fixture
async def named(people):
    for number, name in enumerate(["Alice", "alIcia", "Al_ice", "al%", "al\\", "Zoë", "ZOË2", "Bob"]):
        await people.make(f"00000000-0000-4000-8000-00000000010{number}", name)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("AL", ["al%", "al\\", "al_ice", "alice", "alicia"]),
        ("alici", ["alicia"]),
        ("al_", ["al_ice"]),
        ("%25", []),
        ("al%25", ["al%"]),
        ("al\\", ["al\\"]),
        ("zo%C3%AB", ["zoë", "zoë2"]),
        ("ZO%C3%8B", ["zoë", "zoë2"]),
        ("nobody", []),
        ("alice%20", []),
        ("' OR 1=1 --", []),
    ],
)
async def test_look_up_by_prefix(people, root, named, query, names):
    answer = await people.call(root, "GET", f"/v1/admin/users/lookup?query={query.replace(' ', '%20')}")
    assert answer.status == 200
    assert [item["name"].lower() for item in answer.json["items"]] == names


async def test_look_up_by_uuid(people, root):
    await people.make(ANN, "Ann")
    answer = await people.call(root, "GET", f"/v1/admin/users/lookup?query={ANN.upper()}")
    assert answer.json == {"items": [{"userId": ANN, "name": "Ann", "homeRegion": None, "lastSeenAt": AT}]}
    assert (await people.call(root, "GET", f"/v1/admin/users/lookup?query={NOBODY}")).json == {"items": []}


@in_one_world(
    ("limit", "count"),
    [
        ("", 10),
        ("&limit=0", 1),
        ("&limit=-5", 1),
        ("&limit=11", 11),
        ("&limit=51", 50),
        ("&limit=" + "9" * 22, 50),
    ],
)
async def test_look_up_limits(people, root, parts, limit, count):
    for number in range(51):
        await parts.users.arrive(f"00000000-0000-4000-8000-{number + 0x1000:012x}", f"many{number:03}", 0)
    answer = await people.call(root, "GET", f"/v1/admin/users/lookup?query=many{limit}")
    names = [item["name"] for item in answer.json["items"]]
    assert names == [f"many{number:03}" for number in range(count)]


@in_one_world("query", ["", "?limit=3", "?query=a&limit=x", "?query=a&limit=1.5", "?query=%00"])
async def test_look_up_refuses(people, root, query):
    answer = await people.call(root, "GET", f"/v1/admin/users/lookup{query}")
    assert (answer.status, answer.code) == (400, "BAD_QUERY")


async def test_the_detail_of_a_user_is_found_by_any_spelling_of_the_id(people, root):
    await people.make(ANN, "Ann")
    answer = await people.call(root, "GET", f"/v1/admin/users/{ANN.upper()}")
    assert answer.json == {
        "userId": ANN, "name": "Ann", "homeRegion": None, "lastRegion": None, "createdAt": AT,
        "updatedAt": AT,
        "firstJoinedAt": AT, "lastSeenAt": AT, "lastRegionAt": None, "allowFriendRequests": True,
    }  # fmt: skip


@in_one_world("user_id", [NOBODY, "x", "lookup2", "%00", ANN + "0"])
@in_one_world("path", ["", "/permissions"])
async def test_users_that_are_not_there(people, root, user_id, path):
    answer = await people.call(root, "GET", f"/v1/admin/users/{user_id}{path}")
    assert (answer.status, answer.code) == (404, "NOT_FOUND")
    if path:
        answer = await people.call(root, "POST", f"/v1/admin/users/{user_id}{path}", {"node": "a:b"})
        assert (answer.status, answer.code) == (404, "NOT_FOUND")
        answer = await people.call(root, "DELETE", f"/v1/admin/users/{user_id}{path}/a:b")
        assert (answer.status, answer.code) == (404, "NOT_FOUND")


async def granting(people, root, **body):
    return await people.call(root, "POST", PERMISSIONS, body)


async def test_granting_changing_and_removing(people, root):
    await people.make(ANN)
    answer = await granting(people, root, node="social:friends.max", value={"value": 500, "unit": "Count"})
    whole = {"userId": ANN, "node": "social:friends.max", "negated": False, "expiresAt": None}
    assert (answer.status, answer.json) == (201, {**whole, "value": {"value": 500, "unit": "count"}})
    unchanged = await granting(people, root, node="social:friends.max", expiresAt="2030-01-01T00:00:00Z")
    assert unchanged.json == {
        **whole,
        "expiresAt": "2030-01-01T00:00:00.000Z",
        "value": {"value": 500, "unit": "count"},
    }
    cleared = await granting(people, root, node="social:friends.max", value=None)
    assert cleared.json == {**whole, "value": None}
    bare = await granting(people, root, node="social:friends.max", value=7)
    assert bare.json == {**whole, "value": 7}
    listed = (await people.call(root, "GET", PERMISSIONS)).json
    assert listed == {
        "userId": ANN,
        "items": [
            {
                "node": "social:friends.max",
                "negated": False,
                "expiresAt": None,
                "value": 7,
                "source": "admin",
                "purchaseId": None,
            }
        ],
    }
    gone = [await people.call(root, "DELETE", f"{PERMISSIONS}/social:friends.max") for _ in range(2)]
    assert [answer.json for answer in gone] == [{"removed": 1}, {"removed": 0}]
    assert (await people.call(root, "GET", PERMISSIONS)).json == {"userId": ANN, "items": []}


async def test_units_come_back_as_listed(people, root):
    await people.make(ANN)
    units = [("GB", "gib"), ("min", "minutes"), ("msgs", "messages"), ("y", "years"), ("B", "bytes")]
    for unit, listed in units:
        answer = await granting(people, root, node="storage:max", value={"value": 1.5, "unit": unit})
        assert answer.json["value"] == {"value": 1.5, "unit": listed}


REFUSED = {
    "no node": ({}, "/node"),
    "node is a number": ({"node": 1}, "/node"),
    "node empty": ({"node": ""}, "/node"),
    "node with a space": ({"node": "a b"}, "/node"),
    "node with a slash": ({"node": "a/../b"}, "/node"),
    "node with a half star": ({"node": "a:b*"}, "/node"),
    "node too long": ({"node": "a" * 201}, "/node"),
    "negated is text": ({"node": "a:b", "negated": "yes"}, "/negated"),
    "time without zone": ({"node": "a:b", "expiresAt": "2030-01-01T00:00:00"}, "/expiresAt"),
    "time is a number": ({"node": "a:b", "expiresAt": 1}, "/expiresAt"),
    "value true": ({"node": "a:b", "value": True}, "/value"),
    "value text": ({"node": "a:b", "value": "5"}, "/value"),
    "value negative": ({"node": "a:b", "value": -1}, "/value"),
    "value too large": ({"node": "a:b", "value": 1e308}, "/value"),
    "unit unknown": ({"node": "a:b", "value": {"value": 1, "unit": "parsec"}}, "/value/unit"),
    "unit missing": ({"node": "a:b", "value": {"value": 1}}, "/value/unit"),
    "amount missing": ({"node": "a:b", "value": {"unit": "kb"}}, "/value/value"),
    "unit of another sort": (
        {"node": "social:friends.max", "value": {"value": 1, "unit": "gb"}},
        "/value/unit",
    ),
}


@in_one_world(("body", "pointer"), REFUSED.values(), ids=[*REFUSED])
async def test_refused_grants_change_nothing(people, root, body, pointer):
    await people.make(ANN)
    answer = await people.call(root, "POST", PERMISSIONS, body)
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert [error["pointer"] for error in answer.json["errors"]] == [pointer]
    assert (await people.call(root, "GET", PERMISSIONS)).json["items"] == []


async def test_a_grant_that_has_expired_is_kept_and_counts_for_nothing(people, root):
    token = await people.make(ANN)
    answer = await granting(people, root, node="admin:user:view", expiresAt="2020-01-01T00:00:00Z")
    assert answer.status == 201
    assert (await people.call(token, "GET", "/v1/admin/users/lookup?query=a")).status == 403
    assert len((await people.call(root, "GET", PERMISSIONS)).json["items"]) == 1


async def test_granting_adds_the_node_to_the_catalog_and_removing_leaves_it(people, root):
    await people.make(ANN)
    other = await people.make(BEN)
    held = (await people.call(other, "GET", "/v1/auth/verify")).json["permissions"]
    assert "social:chat.write" in held
    await granting(people, root, node="social:chat.write")
    await people.call(root, "DELETE", f"{PERMISSIONS}/social:chat.write")
    nodes = (await people.call(root, "GET", "/v1/admin/permissions")).json["items"]
    assert "social:chat.write" in [one["node"] for one in nodes]
    assert all(len(one["id"]) == 24 for one in nodes)
    assert [one["node"] for one in nodes] == sorted(one["node"] for one in nodes)
    held = (await people.call(other, "GET", "/v1/auth/verify")).json["permissions"]
    assert "social:chat.write" not in held


@in_one_world("node", ["a%20b", "a%2Fb", "..", "%2E%2E", "a::b", "a%00", "x" * 201])
async def test_removing_what_is_no_node(people, root, node):
    await people.make(ANN)
    answer = await people.call(root, "DELETE", f"{PERMISSIONS}/{node}")
    assert answer.status == 404


async def test_super_admins_cannot_be_made_by_grants(people, root):
    token = await people.make(ANN)
    for node in ("*", "*:*", "*:*:*", "super-admin", "admin:permissions", "role:super-admin"):
        assert (await granting(people, root, node=node)).status == 201
    assert (await people.call(token, "GET", "/v1/admin/permissions")).status == 403


async def test_every_change_is_in_the_trail(people, root, parts):
    await people.make(ANN, "Ann")
    await granting(people, root, node="a:b", value=5, negated=True)
    parts.clock.at_ms += 1000
    await people.call(root, "DELETE", f"{PERMISSIONS}/a:b", x_request_id="rid-7")
    await people.call(root, "DELETE", f"{PERMISSIONS}/a:b")
    page = (await people.call(root, "GET", "/v1/admin/audit?limit=2")).json
    removed, granted = page["items"]
    grant = {"negated": True, "expiresAtMs": None, "value": 5.0, "unit": None}
    assert removed.pop("id") != granted.pop("id")
    assert removed == {
        "at": "2027-01-15T08:00:01.000Z", "actorId": ROOT, "actorName": "Root",
        "action": "permission.removed",
        "targetId": ANN, "targetName": "Ann", "requestId": "rid-7",
        "detail": {"node": "a:b", "before": grant, "after": None},
    }  # fmt: skip
    assert (granted["action"], granted["detail"]) == (
        "permission.granted",
        {"node": "a:b", "before": None, "after": grant},
    )
    assert page["hasMore"]
    rest = (await people.call(root, "GET", f"/v1/admin/audit?cursor={page['nextCursor']}")).json
    assert [(item["action"], item["actorId"], item["detail"]) for item in rest["items"]] == [
        ("role.added", None, {"role": "super-admin"})
    ]
    assert (rest["nextCursor"], rest["hasMore"]) == (None, False)


async def test_a_grant_that_was_there_is_no_line_of_the_trail(people, root, parts):
    await people.make(ANN)
    for more in ({"value": 5}, {"value": 5}, {}, {"value": 6}, {"value": 6}, {"expiresAt": AT}):
        assert (await granting(people, root, node="a:b", **more)).status == 201
        parts.clock.at_ms += 1000
    trail = (await people.call(root, "GET", "/v1/admin/audit?action=permission.granted")).json["items"]
    told = [(one["at"][17:19], one["detail"]["after"]["value"]) for one in trail]
    assert told == [("05", 6.0), ("03", 6.0), ("00", 5.0)]


@in_one_world("cursor", ["x", "-1", "1.5", "%C2%B2", "9" * 19, ""])
async def test_a_bad_cursor_of_the_audit_trail_is_refused(people, root, cursor):
    answer = await people.call(root, "GET", f"/v1/admin/audit?cursor={cursor}")
    assert (answer.status, answer.code) == (400, "BAD_QUERY")


async def test_a_repeated_grant_under_one_key_is_one(people, root):
    await people.make(ANN)
    answers = [
        await people.call(root, "POST", PERMISSIONS, {"node": "a:b"}, idempotency_key="k-1") for _ in range(2)
    ]
    assert answers[0].body == answers[1].body
    assert [answer.status for answer in answers] == [201, 201]
    assert answers[1].headers["idempotent-replayed"] == "true"
    assert len((await people.call(root, "GET", "/v1/admin/audit")).json["items"]) == 2


def test_now_is_when_the_expected_timestamps_say():
    assert NOW_MS == 1_800_000_000_000
