"""What stands in an address: the schemas of parameters of paths and queries."""

from routes.edge.declare.query import MAX_REST_CHARACTERS, ParameterForm, QueryField
from routes.edge.docs.schemas import Schema, one_of

FORMS: dict[ParameterForm, Schema] = {
    ParameterForm.OBJECT_ID: {"type": "string", "pattern": "^[0-9a-f]{24}$"},
    ParameterForm.UUID: {"type": "string", "format": "uuid"},
    ParameterForm.TEXT: {"type": "string", "minLength": 1},
    ParameterForm.REST: {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_REST_CHARACTERS,
        "pattern": "^[^/]+(/[^/]+)*$",
    },
}
"""{form: schema} of ids and texts in an address."""


def as_read(schema: Schema, known: QueryField) -> Schema:
    """The schema of a query parameter: what is None in the struct is left out of an address, and ids have a form.

    Args:
        schema: of the field in the query's struct.
        known: how it is read.
    """
    read = {name: says for name, says in schema.items() if name != "anyOf"}
    read |= one_of([one for one in schema.get("anyOf", ({},)) if one != {"type": "null"}])
    if read.get("default", "") is None:
        del read["default"]
    if isinstance(known.reads, ParameterForm):
        (read["items"] if known.many else read).update(FORMS[known.reads])
    return read
