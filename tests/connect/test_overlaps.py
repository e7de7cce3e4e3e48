"""Which events change the rows that a command to a game server needs."""

import pytest
from msgspec.structs import replace

from actors.connect import events
from actors.connect.events import AnyEvent
from actors.connect.lookups import overlaps
from persistence.connect.rows import RegistrationRow, SettingsRow
from tests.connect.play import ID, NOW, PENDING, ROW

SETTINGS = SettingsRow(
    server_id="server",
    source="s",
    version=1,
    schema_version="1",
    schema=None,
    data=b"{}",
    sealed=None,
    secret_keys=(),
    updated_at_ms=NOW,
    updated_by="server",
)
REGISTRATION = RegistrationRow(
    server_id="server",
    extension_id="e",
    name="e",
    description="",
    actions=b"[]",
    version=1,
    registered_at_ms=NOW,
    last_seen_at_ms=NOW,
)
COMMAND, TEMPLATE = ("command", ID), ("template", "server")
RELATION = ("relation", "server", ID)
ROWS: list[tuple[AnyEvent, tuple[str, ...] | None]] = [
    (events.CommandChanged(PENDING), COMMAND),
    (events.CommandTouched(PENDING), COMMAND),
    (events.CommandChanged(replace(PENDING, id="other")), None),
    (events.ServerChanged(ROW), TEMPLATE),
    (events.SettingsChanged(SETTINGS, ()), TEMPLATE),
    (events.ExtensionRegistered(REGISTRATION), TEMPLATE),
    (events.ExtensionSeen(REGISTRATION), TEMPLATE),
    (events.ServerChanged(replace(ROW, server_id="other")), None),
    (events.SettingsChanged(replace(SETTINGS, server_id="other"), ()), None),
    (events.ExtensionRegistered(replace(REGISTRATION, server_id="other")), None),
    (events.MembersChanged(gone=("server",)), None),
    (events.PolicyChanged("public", invite_requires_direct_friend=False), None),
    (events.ClaimKeyIssued(bytes(32), NOW), None),
    (events.ServerRemoved(NOW), None),
]


@pytest.mark.parametrize(("event", "changed"), ROWS)
def test_a_need_overlaps_with_the_events_that_change_its_rows(
    event: AnyEvent, changed: tuple[str, ...] | None
):
    for need in (COMMAND, TEMPLATE, RELATION):
        assert overlaps(event, need) is (need == changed)
