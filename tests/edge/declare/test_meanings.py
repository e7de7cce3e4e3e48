"""What the documents say of fields and parameters: their struct's word, else the one for their name."""

from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.mounts import RouteTable
from routes.edge.docs import openapi
from routes.edge.pipeline.call import Call
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire

WORDS = {"name": "what it is called.", "size": "how large it is."}


class Named(Wire, frozen=True):
    """Something with a name.

    Args:
        size: in bytes.
    """

    name: str
    size: int


class Thing(Named, frozen=True):
    """Something that is made.

    Args:
        made_at: when it was made; null before.
    """

    made_at: str | None
    note: str
    old_owner_id: str


class Which(Wire, frozen=True):
    """Which things.

    Args:
        name: the beginning of a name.
    """

    name: str = ""


@endpoint("GET", "/v1/things/{thingId}", needs=AUTHENTICATED)
async def read_thing(call: Call, thing_id: str, query: Which) -> Thing:
    """A thing."""
    raise NotImplementedError


@endpoint("GET", "/v1/guarded", needs="social:thing.read")
async def read_guarded(call: Call) -> Thing:
    """A thing, for which `social:thing.read` is needed."""
    raise NotImplementedError


DOCUMENT = openapi.document(RouteTable((read_thing, read_guarded), words=WORDS))
FIELDS = DOCUMENT["components"]["schemas"]["Thing"]["properties"]


def test_a_struct_says_what_its_fields_mean_and_so_do_its_bases() -> None:
    assert FIELDS["madeAt"]["description"] == "when it was made; null before."
    assert FIELDS["size"]["description"] == "in bytes."


def test_other_fields_are_described_by_their_names() -> None:
    assert FIELDS["name"]["description"] == "what it is called."
    assert FIELDS["oldOwnerId"]["description"] == "the old owner's id."
    assert "description" not in FIELDS["note"]


def test_what_ends_in_at_is_a_time() -> None:
    assert [one.get("format") for one in FIELDS["madeAt"]["anyOf"]] == ["date-time", None]
    assert "format" not in FIELDS["note"]


def test_parameters_are_described_as_fields_are() -> None:
    parameters = DOCUMENT["paths"]["/v1/things/{thingId}"]["get"]["parameters"]
    assert {one["name"]: one["description"] for one in parameters} == {
        "thingId": "the thing's id.",
        "name": "the beginning of a name.",
    }


def test_a_permission_is_not_named_twice() -> None:
    assert (
        DOCUMENT["paths"]["/v1/guarded"]["get"]["description"]
        == "A thing, for which `social:thing.read` is needed."
    )
