"""The registration of extensions by a game server (contract §7): pure."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from actors.connect.capabilities import require
from actors.connect.commands import RegisterExtension
from actors.connect.events import AnyEvent, ExtensionRegistered, ExtensionSeen
from actors.connect.extensions import action_faults, schema_texts
from actors.connect.state import State
from actors.errors import Invalid, QuotaExceeded, TooLarge
from persistence.connect.rows import RegistrationRow

MAX_REGISTRATIONS = 32
MAX_BYTES = 64 * 1024
"""The most bytes of the actions of one extension."""


def register(state: State, command: RegisterExtension, now_ms: int) -> Sequence[AnyEvent]:
    """Register an extension, or replace its registration; the version increases when anything has changed.

    Raises:
        NotFound, Forbidden: the user may not write settings.
        TooLarge: the actions have more than 64 KiB.
        Invalid: an action is at fault.
        QuotaExceeded: the server has 32 extensions.
    """
    require(state, command.user_id, "server.settings.write")
    # Checked first, because checking the schemas takes time that grows with their size.
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


def with_registration(state: State, row: RegistrationRow) -> State:
    """The state with a registration as it is now."""
    return replace(
        state,
        registrations={**state.registrations, row.extension_id: row},
        actions={**state.actions, row.extension_id: schema_texts(row)},
    )


def without_registration(state: State, extension_id: str) -> State:
    """The state without a registration."""
    registrations, actions = dict(state.registrations), dict(state.actions)
    registrations.pop(extension_id, None)
    actions.pop(extension_id, None)
    return replace(state, registrations=registrations, actions=actions)
