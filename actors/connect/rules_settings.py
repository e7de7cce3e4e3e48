"""Settings of a game server (contract §7): versions, schemas, and values that only the server sees. Pure: sealing
with a given nonce is deterministic.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from actors.connect.capabilities import require
from actors.connect.commands import PutSettings
from actors.connect.events import AnyEvent, ServerChanged, SettingsChanged
from actors.connect.extensions import CONNECT
from actors.connect.schemas import Schema, escaped, faults, fitted, misfits
from actors.connect.secret_values import open_values, seal_values
from actors.connect.state import State
from actors.errors import Invalid, QuotaExceeded, RevisionConflict, TooLarge
from actors.field_errors import FieldError
from actors.stored_json import values_in
from actors.vault import Vault
from persistence.connect.rows import SettingsRow

MASK = "********"
"""Shown in place of a secret value; when a client sends it back, the stored value stays."""

MAX_SOURCES = 32
MAX_BYTES = 64 * 1024
"""The most bytes of the data of one source, and of its schema."""

MAX_ALL_BYTES = 512 * 1024
"""The most bytes of all settings of a server."""


def put(vault: Vault, state: State, command: PutSettings, now_ms: int) -> Sequence[AnyEvent]:
    """Store settings in place of the former ones; without effect when they are equal.

    Raises:
        NotFound, Forbidden: the user may not write settings.
        RevisionConflict: another version is stored than the one that the caller has worked on.
        QuotaExceeded: the server has too many sources, or too many bytes of settings.
        TooLarge: data or schema have more than 64 KiB.
        Invalid: the schema is at fault, or the data do not fit it.
    """
    require(state, command.user_id, "server.settings.write")
    former = state.settings.get(command.source)
    version = 0 if former is None else former.version
    if not _is_expected(command.expected, version):
        raise RevisionConflict(version=version)
    if former is None and len(state.settings) >= MAX_SOURCES:
        raise QuotaExceeded(message=f"a server has at most {MAX_SOURCES} sources", max=MAX_SOURCES)
    schema = command.schema or schema_of(former)
    kept = {} if former is None else open_values(vault, former.sealed)
    plain, hidden = _checked(command, schema, kept)
    row = SettingsRow(
        server_id=state.id,
        source=command.source,
        version=version + 1,
        schema_version=_schema_version(command, former),
        data=msgspec.json.encode(plain),
        schema=None if schema is None else msgspec.json.encode(schema),
        sealed=seal_values(vault, hidden, command.nonce) if hidden else None,
        secret_keys=tuple(sorted(hidden)),
        updated_at_ms=now_ms,
        updated_by=command.user_id or state.id,
    )
    _check_size(state, row, hidden)
    changed = _changed({**data_of(former), **kept}, {**plain, **hidden})
    if former is not None and not changed and _same(former, row):
        return ()
    events: list[AnyEvent] = [SettingsChanged(row, changed)]
    temporary = _temporary(state, former, row)
    if temporary != state.row.temporary:
        events.append(ServerChanged(replace(state.row, temporary=temporary, updated_at_ms=now_ms)))
    return events


def _is_expected(expected: int | tuple[int, ...] | None, version: int) -> bool:
    return expected is None or (version in expected if isinstance(expected, tuple) else version == expected)


def said_temporary(row: SettingsRow | None) -> bool | None:
    """What settings say about whether their server is a temporary instance; None where they say nothing."""
    said = data_of(row).get("temp") if row is not None and row.source == CONNECT else None
    return said if isinstance(said, bool) else None


def schema_of(row: SettingsRow | None) -> Schema | None:
    """The schema of a row, decoded; None where there is none."""
    return None if row is None or row.schema is None else msgspec.convert(values_in(row.schema), Schema)


def data_of(row: SettingsRow | None) -> dict[str, Any]:
    """The data of a row without secret values; empty before anything was stored."""
    return {} if row is None else values_in(row.data)


def _temporary(state: State, former: SettingsRow | None, row: SettingsRow) -> bool:
    """Whether the server is temporary under new settings.

    Taking `temp: true` out of the settings makes the server permanent again. Settings that have never had `temp` leave
    a server as it was registered.
    """
    said = said_temporary(row)
    if said is None:
        return state.row.temporary and not said_temporary(former)
    return said


def _checked(
    command: PutSettings, schema: Schema | None, kept: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """(data without secret values, {key: secret value}), checked against the schema."""
    data = dict(command.data)
    secret_keys = frozenset[str]() if schema is None else schema.secret_keys
    stays = {key for key in secret_keys if data.get(key) == MASK and key in kept}
    for key in secret_keys:
        if data.get(key) == MASK:
            data[key] = kept.get(key)
    _check_given(data, secret_keys, command.schema)
    errors = list(faults(schema, "/schema")) if command.schema is not None and schema is not None else []
    if command.source == CONNECT and not isinstance(data.get("temp", False), bool):
        errors.append(FieldError("/data/temp", "WRONG_TYPE", "not of type bool"))
    errors += [
        FieldError(
            f"/data/{escaped(key)}", "NOT_ALLOWED", "no secret in this schema: put a value, or leave it out"
        )
        for key in kept
        if data.get(key) == MASK and key not in secret_keys
    ]
    if schema is None:
        if errors:
            raise Invalid(*errors)
        return data, {}
    data = fitted(data, schema)
    # Stored secrets were checked when they were put. Checked again, against bounds that the caller chooses, they
    # would reveal their length.
    given = replace(schema, fields=tuple(field for field in schema.fields if field.key not in stays))
    errors += misfits(data, given, "/data")
    if errors:
        raise Invalid(*errors)
    hidden = {key: data[key] for key in secret_keys if data.get(key) is not None}
    return {key: value for key, value in data.items() if key not in secret_keys}, hidden


def _schema_version(command: PutSettings, former: SettingsRow | None) -> str:
    if command.schema_version is not None:
        return command.schema_version
    if command.schema is not None:
        return command.schema.version
    return "1" if former is None else former.schema_version


def _check_given(data: Mapping[str, Any], secret_keys: frozenset[str], schema: Schema | None) -> None:
    """Refuse early what `_check_size` would refuse, before each value is checked against its field."""
    open_bytes = len(msgspec.json.encode({key: data[key] for key in data.keys() - secret_keys}))
    secrets = (data.get(key) for key in secret_keys)
    secret_bytes = sum(_rounded(len(value.encode())) for value in secrets if isinstance(value, str))
    if open_bytes + secret_bytes > MAX_BYTES or len(msgspec.json.encode(schema)) > MAX_BYTES:
        raise _too_large()


def _check_size(state: State, row: SettingsRow, hidden: Mapping[str, str]) -> None:
    size = _size(row)
    sealed_bytes = sum(_rounded(len(value.encode())) for value in hidden.values())
    if len(row.data) + sealed_bytes > MAX_BYTES or len(row.schema or b"") > MAX_BYTES:
        raise _too_large()
    others = sum(_size(other) for source, other in state.settings.items() if source != row.source)
    if others + size > MAX_ALL_BYTES:
        raise QuotaExceeded(
            message=f"a server's settings have at most {MAX_ALL_BYTES} bytes", max=MAX_ALL_BYTES
        )


def _too_large() -> TooLarge:
    return TooLarge(f"settings, and their schema, have at most {MAX_BYTES} bytes each")


def _size(row: SettingsRow) -> int:
    return len(row.data) + len(row.schema or b"") + _rounded(len(row.sealed or b""))


def _rounded(size_bytes: int) -> int:
    """The size of a secret as counted: rounded up to KiB, so that the room left does not reveal its length."""
    return -(-size_bytes // 1024) * 1024


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    # Compared as JSON, because True == 1 in Python.
    texts = [{key: msgspec.json.encode(value) for key, value in data.items()} for data in (before, after)]
    return tuple(
        sorted(key for key in before.keys() | after.keys() if texts[0].get(key) != texts[1].get(key))
    )


def _same(former: SettingsRow, row: SettingsRow) -> bool:
    return (former.schema, former.schema_version, former.secret_keys) == (
        row.schema,
        row.schema_version,
        row.secret_keys,
    )
