"""What a game server registers of an extension (contract §7): pure."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from actors.connect.capabilities import require
from actors.connect.commands import RegisterExtension
from actors.connect.events import AnyEvent, ExtensionRegistered, ExtensionSeen
from actors.connect.extensions import action_faults
from actors.connect.state import State
from actors.errors import Invalid, QuotaExceeded, TooLarge
from persistence.connect.rows import RegistrationRow

MAX_REGISTRATIONS = 32
MAX_BYTES = 64 * 1024
"""Of the actions of one extension."""


def register(state: State, command: RegisterExtension, now_ms: int) -> Sequence[AnyEvent]:
    """Register an extension as the server has it; its version counts what has changed.

    Raises:
        Invalid: an action or its schema breaks a rule.
        QuotaExceeded: the server has as many extensions as it may.
        TooLarge: its actions are too large together.
    """
    require(state, command.user_id, "server.settings.write")
    # Before each default is held against its field.
    actions = msgspec.json.encode(command.actions)
    if len(actions) > MAX_BYTES:
        raise TooLarge(f"the actions of an extension have at most {MAX_BYTES} bytes")
    errors = tuple(action_faults(command.actions))
    if errors:
        raise Invalid(*errors)
    former = state.registrations.get(command.extension_id)
    if former is None and len(state.registrations) >= MAX_REGISTRATIONS:
        raise QuotaExceeded(
            message=f"a server has at most {MAX_REGISTRATIONS} extensions", max=MAX_REGISTRATIONS
        )
    row = RegistrationRow(
        server_id=state.id,
        extension_id=command.extension_id,
        name=command.name,
        description=command.description,
        version=1 if former is None else former.version + 1,
        actions=actions,
        registered_at_ms=now_ms if former is None else former.registered_at_ms,
        last_seen_at_ms=now_ms,
    )
    if former is not None and replace(former, version=row.version, last_seen_at_ms=now_ms) == row:
        return (ExtensionSeen(replace(row, version=former.version)),)
    return (ExtensionRegistered(row),)
