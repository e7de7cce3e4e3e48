"""Wire: the caller's own profile and settings (service-api §4 Profile, contract §8)."""

import json

import pytest

from actors.users.presence import GRACE_MS
from persistence.users.users import read_user
from tests.support.one_world import in_one_world
from tests.users.parts import ANN, BEN

SELF = "/v1/profile/self"
SETTINGS = "/v1/profile/settings"
FRESH = {
    "allowFriendRequests": True,
    "privacy": {"serverListVisibility": "FRIENDS", "groupInvites": "EVERYONE"},
    "uiStyle": {"syncEnabled": False, "source": None, "payload": None},
    "patreon": {"linked": False, "tier": None},
    "discord": {"linked": False, "username": None},
    "supporter": {"active": False, "tier": None, "since": None},
}


@pytest.fixture
async def ann(people):
    return await people.make(ANN, "Ann")


@in_one_world(("method", "path"), [("GET", SELF), ("GET", SETTINGS), ("PATCH", SETTINGS)])
async def test_needs_a_user_and_nothing_else(people, method, path):
    body = {} if method == "PATCH" else b""
    assert (await people.call(None, method, path, body)).status == 401
    token = await people.make(ANN, grants=["-*", "-*:*", "-*:*:*"])
    assert (await people.call(token, method, path, body)).status == 200


async def test_the_own_profile_has_permissions_label_and_presence(people, ann, parts):
    answer = (await people.call(ann, "GET", SELF)).json
    assert answer.pop("permissions") == (await people.call(ann, "GET", "/v1/auth/verify")).json["permissions"]
    assert answer == {
        "userId": ANN,
        "name": "Ann",
        "highestRoleLabel": "User",
        "online": False,
        "status": {"state": "OFFLINE", "timestamp": "2027-01-15T08:00:00.000Z"},
        "lastSeenAt": "2027-01-15T08:00:00.000Z",
    }


async def test_self_shows_presence(people, ann, parts):
    parts.clock.at_ms += 1000
    parts.presence.opened(ANN)
    parts.clock.at_ms += 1000
    answer = (await people.call(ann, "GET", SELF)).json
    assert (answer["online"], answer["status"]) == (
        True,
        {"state": "ONLINE", "timestamp": "2027-01-15T08:00:01.000Z"},
    )
    assert answer["lastSeenAt"] == "2027-01-15T08:00:02.000Z"
    parts.presence.closed(ANN)
    parts.clock.at_ms += GRACE_MS
    parts.presence.tick()
    for _ in range(2):
        parts.clock.at_ms += 1000  # the time of the change, not of the question
        answer = (await people.call(ann, "GET", SELF)).json
        assert (answer["online"], answer["status"]) == (
            False,
            {"state": "OFFLINE", "timestamp": "2027-01-15T08:00:12.000Z"},
        )


async def test_the_role_label(people):
    token = await people.make(ANN, role="admin")
    assert (await people.call(token, "GET", SELF)).json["highestRoleLabel"] == "Admin"


async def test_settings_before_anything_was_set(people, ann):
    assert (await people.call(ann, "GET", SETTINGS)).json == FRESH


async def test_each_setting_is_changed_by_itself(people, ann, parts):
    expected = json.loads(json.dumps(FRESH))
    steps = [
        ({}, {}),
        ({"allowFriendRequests": False}, {"allowFriendRequests": False}),
        (
            {"privacy": {"serverListVisibility": "PRIVATE"}},
            {"privacy": {"serverListVisibility": "PRIVATE", "groupInvites": "EVERYONE"}},
        ),
        (
            {"privacy": {"groupInvites": "FRIENDS"}},
            {"privacy": {"serverListVisibility": "PRIVATE", "groupInvites": "FRIENDS"}},
        ),
        ({"privacy": {}, "uiStyle": {}, "allowFriendRequests": None}, {}),
        (
            {"uiStyle": {"syncEnabled": True, "source": "launcher", "payload": {"a": [1, "ü", None]}}},
            {"uiStyle": {"syncEnabled": True, "source": "launcher", "payload": {"a": [1, "ü", None]}}},
        ),
        (
            {"uiStyle": {"syncEnabled": False}},
            {"uiStyle": {"syncEnabled": False, "source": "launcher", "payload": {"a": [1, "ü", None]}}},
        ),
        (
            {"uiStyle": {"source": None, "payload": None}},
            {"uiStyle": {"syncEnabled": False, "source": None, "payload": None}},
        ),
        ({"unknown": 1}, {}),
    ]
    for body, changes in steps:
        expected |= changes
        answer = await people.call(ann, "PATCH", SETTINGS, body)
        assert (answer.status, answer.json) == (200, expected), body
        assert (await people.call(ann, "GET", SETTINGS)).json == expected
    other = await people.make(BEN)
    assert (await people.call(other, "GET", SETTINGS)).json == FRESH
    assert not (await parts.database.read(read_user, ANN)).allow_friend_requests


async def test_what_others_set_is_not_the_users_to_change(people, ann):
    body = {
        "supporter": {"active": True, "tier": "gold"},
        "patreon": {"linked": True},
        "discord": {"linked": True, "username": "x"},
        "highestRoleLabel": "Super Admin",
        "userId": BEN,
        "role": "super-admin",
    }
    assert (await people.call(ann, "PATCH", SETTINGS, body)).json == FRESH


REFUSED = {
    "flag as text": ({"allowFriendRequests": "yes"}, "/allowFriendRequests"),
    "flag as number": ({"allowFriendRequests": 1}, "/allowFriendRequests"),
    "privacy as text": ({"privacy": "PUBLIC"}, "/privacy"),
    "unknown visibility": ({"privacy": {"serverListVisibility": "public"}}, "/privacy/serverListVisibility"),
    "unknown group invites": ({"privacy": {"groupInvites": "SOME"}}, "/privacy/groupInvites"),
    "sync as text": ({"uiStyle": {"syncEnabled": "on"}}, "/uiStyle/syncEnabled"),
    "source as number": ({"uiStyle": {"source": 1}}, "/uiStyle/source"),
    "source too long": ({"uiStyle": {"source": "x" * 201}}, "/uiStyle/source"),
    "payload too long": ({"uiStyle": {"payload": "x" * 65_536}}, "/uiStyle/payload"),
    "NUL": ({"uiStyle": {"payload": {"a": "\0"}}}, "/uiStyle/payload/a"),
}


@in_one_world(("body", "pointer"), REFUSED.values(), ids=[*REFUSED])
async def test_bad_settings_are_refused_and_change_nothing(people, ann, body, pointer):
    answer = await people.call(ann, "PATCH", SETTINGS, {"allowFriendRequests": False, **body})
    assert (answer.status, answer.code) == (422, "VALIDATION_FAILED")
    assert [error["pointer"] for error in answer.json["errors"]] == [pointer]
    assert (await people.call(ann, "GET", SETTINGS)).json == FRESH


@in_one_world(("length", "status"), [(65_400, 200), (98_304, 413), (10**6, 413)])
async def test_settings_are_bounded_in_bytes(people, ann, length, status):
    answer = await people.call(ann, "PATCH", SETTINGS, {"uiStyle": {"payload": "x" * length}})
    assert answer.status == status
