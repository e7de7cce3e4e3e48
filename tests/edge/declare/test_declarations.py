"""Declarations: what contradicts itself does not import; OpenAPI and AsyncAPI are made of what is left."""

import re
from types import ModuleType

import msgspec
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from actors.errors import NotFound
from actors.ids import ObjectId, UserId
from routes.edge import errors
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.mounts import Mount, RouteTable
from routes.edge.declare.query import ParameterForm, PathParam
from routes.edge.declare.route import Endpoint
from routes.edge.declare.signature import snake
from routes.edge.docs import asyncapi, openapi
from routes.edge.errors import EdgeRefused
from routes.edge.pipeline.call import Call
from routes.edge.principal import AUTHENTICATED, PUBLIC
from routes.edge.problems import Problem, problem
from routes.edge.reply import Encoded, Reply
from routes.operations import operations
from tests.edge.sample import Thing, sample_table


async def handler(call: Call) -> None: ...


def test_needs_has_no_default() -> None:
    with pytest.raises(TypeError, match="needs"):
        endpoint("GET", "/v1/x")  # type: ignore[call-arg]


@pytest.mark.parametrize("needs", ["public", "", "a b:c"])
def test_needs_is_a_constant_or_a_node(needs: str) -> None:
    with pytest.raises(ValueError, match="permission node"):
        endpoint("GET", "/v1/x", needs=needs)(handler)


def test_path_and_parameters_must_agree() -> None:
    async def other(call: Call, thing: str) -> None: ...

    async def unannotated(call: Call):  # type: ignore[no-untyped-def]
        ...

    with pytest.raises(ValueError, match="thing_id"):
        endpoint("GET", "/v1/x/{thingId}", needs=PUBLIC)(handler)
    with pytest.raises(ValueError, match="thing"):
        endpoint("GET", "/v1/x", needs=PUBLIC)(other)
    with pytest.raises(ValueError, match="result"):
        endpoint("GET", "/v1/x", needs=PUBLIC)(unannotated)
    with pytest.raises(ValueError, match="HEAD"):
        endpoint("HEAD", "/v1/x", needs=PUBLIC)(handler)


def test_signature_is_read() -> None:
    @endpoint("PUT", "/v1/{thingId}/{userId}/{name}", needs=AUTHENTICATED)
    async def put(
        call: Call, thing_id: ObjectId, user_id: UserId, name: str, body: Thing | None
    ) -> Reply[Encoded[Thing]] | None: ...

    assert [(known.name, known.form) for known in put.parameters] == [
        ("thing_id", ParameterForm.OBJECT_ID),
        ("user_id", ParameterForm.UUID),
        ("name", ParameterForm.TEXT),
    ]
    assert (put.body, put.body_optional, put.returns) == (Thing, True, Thing | None)
    assert (put.rate.name, put.status) == ("user-write", 200)
    assert snake("conversationId") == "conversation_id"


def test_the_rest_of_a_path_is_text_at_its_end() -> None:
    async def of_id(call: Call, rest: ObjectId) -> None: ...

    async def of_text(call: Call, rest: str) -> None: ...

    async def of_both(call: Call, rest: str, name: str) -> None: ...

    (taken,) = endpoint("GET", "/v1/x/{*rest}", needs=PUBLIC)(of_text).parameters
    assert (taken.wire, taken.form) == ("rest", ParameterForm.REST)
    for path, other in (
        ("/v1/x/{*rest}", of_id),
        ("/v1/x/{*rest}/y", of_text),
        ("/v1/x/y{*rest}", of_text),
        ("/v1/{*rest}/{name}", of_both),
    ):
        with pytest.raises(ValueError, match="its last segments"):
            endpoint("GET", path, needs=PUBLIC)(other)


@pytest.mark.parametrize(
    "text",
    [
        "", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/./b", "a\\b", "a\0b", "a\nb", "a\r\nHost: x",
        "\u202e", "a" * 201, "ab/" * 166 + "abc",
    ],
)  # fmt: skip
def test_a_rest_that_could_lead_elsewhere_is_not_found(text: str) -> None:
    assert PathParam("rest", "rest", ParameterForm.REST, NotFound).parse(text) is None


@pytest.mark.parametrize("text", ["a", "a/b", ".well-known/x", "...", "a b", "%2e%2e/x", "ü/ß", "a" * 200])
def test_any_other_rest_is_taken_as_it_is(text: str) -> None:
    assert PathParam("rest", "rest", ParameterForm.REST, NotFound).parse(text) == text


def test_the_rest_of_a_path_is_described() -> None:
    @endpoint("GET", "/v1/x/{*filePath}", needs=PUBLIC, aliases=("/x/{*filePath}",))
    async def read_file(call: Call, file_path: str) -> None:
        """Reads a file."""

    table = RouteTable((read_file,))
    assert read_file.line == "GET /v1/x/{filePath}"
    document = openapi.document(table)
    OpenAPIV31SpecValidator(msgspec.json.decode(openapi.openapi(table))).validate()
    assert list(document["paths"]) == ["/v1/x/{filePath}", "/x/{filePath}"]
    (parameter,) = document["paths"]["/v1/x/{filePath}"]["get"]["parameters"]
    assert (parameter["name"], parameter["in"], parameter["required"]) == ("filePath", "path", True)
    pattern = re.compile(parameter["schema"]["pattern"])
    assert pattern.search("a/b")
    assert not any(map(pattern.search, ("", "/a", "a/", "a//b")))


def test_nothing_is_declared_twice() -> None:
    first, second = ModuleType("m"), ModuleType("m")
    for module in (first, second):

        @endpoint("GET", "/v1/x/{a}", needs=PUBLIC)
        async def show(call: Call, a: str) -> None: ...

        show.handler.__module__ = "m"
        module.show = show  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="declared twice"):
        RouteTable.of([Mount("a", (first, second))])


def test_table_is_in_order_and_knows_its_areas() -> None:
    table = sample_table()
    assert [known.name for known in table.endpoints][:2] == ["open_thing", "list_things"]
    assert {known.area for known in table.endpoints} == {"sample"}
    assert [known.name for known in table.streams] == ["watch_server", "watch_thing"]


def whole_table() -> RouteTable:
    operations_table = RouteTable.of([Mount("operations", (operations,))])
    sample = sample_table()
    return RouteTable((*sample.endpoints, *operations_table.endpoints), sample.streams)


def test_openapi_is_valid() -> None:
    document = msgspec.json.decode(openapi.openapi(whole_table()))
    OpenAPIV31SpecValidator(document).validate()
    assert document["openapi"] == "3.1.0"


def test_openapi_says_what_is_declared() -> None:
    document = openapi.document(whole_table())
    paths = document["paths"]
    post = paths["/v1/things/{thingId}/parts"]["post"]
    assert (post["operationId"], post["tags"], post["security"]) == ("addPart", ["sample"], [{"user": []}])
    assert post["description"] == "Adds a part.\n\nNeeds: permission `things:write`."
    assert post["requestBody"]["content"] == {
        "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}
    }
    assert post["responses"]["201"]["content"] == {
        "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}
    }
    assert sorted(post["responses"]) == [
        "201",
        "400",
        "401",
        "403",
        "404",
        "408",
        "409",
        "413",
        "415",
        "422",
        "429",
        "500",
        "503",
    ]
    name = "IdempotencyInProgressInvalidStateProblem"
    assert post["responses"]["409"]["content"]["application/problem+json"]["schema"] == {
        "$ref": f"#/components/schemas/{name}"
    }
    codes = document["components"]["schemas"][name]["allOf"][1]["properties"]["code"]
    assert codes["enum"] == ["IDEMPOTENCY_IN_PROGRESS", "INVALID_STATE"]
    assert [known["name"] for known in post["parameters"]] == ["thingId", "Idempotency-Key"]
    listed = paths["/v1/things"]["get"]
    limit = listed["parameters"][0]
    assert (limit["name"], limit["schema"], limit["description"]) == (
        "limit",
        {"type": "integer", "default": 50},
        "Moved into 1 to 100.",
    )
    assert sorted(paths["/v1/optional"]["delete"]["responses"])[0] == "204"
    file = paths["/v1/files/{name}"]["get"]["responses"]
    assert {"200", "206", "304", "416"} <= set(file)
    assert paths["/v1/open"]["get"]["responses"]["304"]["description"] == "Not Modified"
    assert paths["/v1/raw"]["post"]["responses"]["200"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Thing"
    }


def test_docstrings_of_structs_are_spread_over_their_fields() -> None:
    thing = openapi.document(whole_table())["components"]["schemas"]["Thing"]
    assert thing["description"] == "A thing."
    assert thing["properties"]["sizeBytes"] == {"type": "integer", "default": 0, "description": "of it."}
    assert thing["properties"]["name"]["maxLength"] == 20


def test_every_operation_has_its_own_id() -> None:
    ids = [
        operation["operationId"]
        for path in openapi.document(whole_table())["paths"].values()
        for operation in path.values()
    ]
    assert len(ids) == len(set(ids))


def test_asyncapi_says_what_is_declared() -> None:
    document = asyncapi.document(whole_table())
    channel = document["channels"]["watchThing"]
    assert (channel["address"], list(channel["parameters"])) == ("/v1/things/{thingId}/live", ["thingId"])
    assert channel["messages"] == {
        "Frame": {"$ref": "#/components/messages/Frame"},
        "Said": {"$ref": "#/components/messages/Said"},
    }
    assert document["operations"]["watchThing.send"]["messages"] == [
        {"$ref": "#/channels/watchThing/messages/Frame"}
    ]
    assert document["components"]["schemas"]["Frame"]["properties"]["type"] == {"enum": ["snapshot"]}
    assert msgspec.json.decode(asyncapi.asyncapi(whole_table())) == msgspec.to_builtins(document)


def leaves(root: type) -> list[type]:
    return [root, *(leaf for child in root.__subclasses__() for leaf in leaves(child))]


@pytest.mark.parametrize("refusal", leaves(EdgeRefused)[1:], ids=lambda known: known.__name__)
def test_every_refusal_of_the_edge_makes_a_problem(refusal: type[EdgeRefused]) -> None:
    raised = refusal(5) if refusal.__name__ == "RateLimited" else refusal()  # type: ignore[arg-type]
    outgoing = problem(raised, "r1")
    body = msgspec.json.decode(outgoing.body, type=Problem)  # type: ignore[arg-type]
    assert (body.status, body.code, body.message) == (refusal.status_hint, refusal.code, refusal.sentence)
    assert body.type == "urn:problem:" + refusal.code.lower().replace("_", "-")
    assert refusal.__name__ in (errors.__doc__ or "")


def test_abstract_refusal_refuses_to_be_raised() -> None:
    with pytest.raises(TypeError):
        EdgeRefused()


def test_endpoint_is_what_its_name_becomes() -> None:
    assert isinstance(operations.health, Endpoint)
