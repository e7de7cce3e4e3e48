"""Everything that a client sends has a bound that is checked before anything walks it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from msgspec import inspect

from routes import TABLE
from routes.edge.declare.query import MAX_TEXT_CHARACTERS
from routes.edge.declare.route import RAW_BODIES, Endpoint, Route
from routes.edge.errors import BadQuery

ROUTES: tuple[Route, ...] = (*TABLE.endpoints, *TABLE.streams)

BODY = "the route's largest body, and the rule that looks at it: "
BOUNDED_ELSEWHERE = {
    "POST /v1/launcher/performance-reports": BODY + "actors/launcher/units_reports.py, REPORT_MAX_BYTES",
    "actors.chat.attachments:UploadDraft.data_base64": BODY + "actors/chat/attachments.py, check_upload",
    "actors.connect.schemas:Field.default": BODY + "actors/connect/schemas.py, faults",
    "actors.party.selection:ProfileRequirement.required_mods[]": BODY + "actors/party/selection.py, checked",
    "routes.capes.own:CapeTexture.data_url": BODY + "actors/capes/images.py, MAX_BYTES",
    "routes.connect.commands:AckBody.result": BODY + "actors/connect/rules_commands.py, MAX_BYTES",
    "routes.connect.commands:NewCommand.payload": BODY + "actors/connect/rules_commands.py, MAX_BYTES",
    "routes.connect.settings:SettingsBody.data": BODY + "actors/connect/rules_settings.py, MAX_BYTES",
    "routes.users.progress:OptionsBody.options": BODY + "actors/users/units_shares.py, json_object",
    "routes.users.shares:NewShare.manifest": BODY + "actors/users/units_shares.py, json_object",
    "routes.users.profile:UiStylePatch.payload": BODY + "actors/users/units_profile.py, with_change",
    "routes.publications.targets:PublicationBody.social_links[]": BODY + "routes/publications/targets.py",
    "routes.totems.own:NewModel.data": BODY + "actors/totems/documents.py, check_upload",
    "routes.totems.own:TotemChoice.item_model_id": "its pattern",
}
"""{field: what bounds it}; everything within such a field is its rule's to look at."""


class Unbounded:
    """Collects the fields of a struct that have no bound.

    Args:
        excused: names of `BOUNDED_ELSEWHERE` that were met are added to it.
    """

    def __init__(self, excused: set[str]) -> None:
        self._excused = excused
        self._seen: set[type] = set()

    def of(self, type_: Any, place: str = "") -> Iterator[str]:
        if place in BOUNDED_ELSEWHERE:
            self._excused.add(place)
            return
        match type_:
            case inspect.StructType(cls=cls, fields=fields):
                if cls not in self._seen:
                    self._seen.add(cls)
                    for field in fields:
                        yield from self.of(field.type, f"{cls.__module__}:{cls.__name__}.{field.name}")
            case inspect.Metadata(type=inner):
                yield from self.of(inner, place)
            case inspect.UnionType(types=types):
                for one in types:
                    yield from self.of(one, place)
            case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
                if type_.max_length is None:
                    yield f"{place}: a list"
                yield from self.of(type_.item_type, f"{place}[]")
            case inspect.DictType():
                if type_.max_length is None:
                    yield f"{place}: an object"
                yield from self.of(type_.key_type, f"{place}{{}}")
                yield from self.of(type_.value_type, f"{place}{{}}")
            case inspect.StrType():
                if type_.max_length is None:
                    yield f"{place}: a text"
            case inspect.IntType():
                if (type_.ge is None and type_.gt is None) or (type_.le is None and type_.lt is None):
                    yield f"{place}: a whole number"
            case inspect.FloatType() | inspect.BoolType() | inspect.NoneType() | inspect.LiteralType():
                pass  # all of the same size
            case _:
                yield f"{place}: {type(type_).__name__}"


def test_no_field_is_without_a_bound() -> None:
    met: set[str] = set()
    unbounded = Unbounded(met)
    bodies = [(one.line, one.body) for one in TABLE.endpoints if one.body not in (None, *RAW_BODIES)]
    said = [(stream.line, struct) for stream in TABLE.streams for struct in stream.receives]
    found = [
        field for line, type_ in (*bodies, *said) for field in unbounded.of(inspect.type_info(type_), line)
    ]
    assert found == []
    assert met == BOUNDED_ELSEWHERE.keys()


@pytest.mark.parametrize("route", [one for one in ROUTES if one.query is not None], ids=lambda one: one.line)
def test_no_query_parameter_is_without_a_bound(route: Route) -> None:
    assert route.query is not None
    strict = replace(route.query, lenient=False)  # the lenient take none of it either
    for field in strict.fields.values():
        if field.reads is str:
            with pytest.raises(BadQuery):
                strict.decode(f"{field.wire}={'x' * (MAX_TEXT_CHARACTERS + 1)}".encode())
        elif field.reads is int and field.clamp is None:
            with pytest.raises(BadQuery):
                strict.decode(f"{field.wire}={2**63}".encode())


def test_structs_that_keep_their_text_hold_no_numbers_that_are_slow_to_read() -> None:
    """msgspec takes 8 µs for a float of a large exponent; only bodies with raw JSON are read by it alone."""
    kept = [endpoint for endpoint in TABLE.endpoints if endpoint.shape and endpoint.shape.decoder]
    assert 0 < len(kept) < 10
    for endpoint in kept:
        assert "FloatType" not in repr(inspect.type_info(endpoint.body)), endpoint.line


def test_every_body_has_a_largest_size() -> None:
    assert all(_is_bounded(endpoint) for endpoint in TABLE.endpoints)


def _is_bounded(endpoint: Endpoint) -> bool:
    return callable(endpoint.max_bytes) or 0 < endpoint.max_bytes <= 1024 * 1024
