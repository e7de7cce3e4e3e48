"""JSON schemas of the declared types, as components that refer to each other; used by OpenAPI and AsyncAPI."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import cleandoc
from types import MappingProxyType, UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin

import msgspec

from actors.bounds import RULE
from routes.edge.docs.always import Structs, structs_in

Schema: TypeAlias = dict[str, Any]
"""JSON Schema 2020-12."""

ANY_JSON: Schema = {"description": "Any JSON value."}

REFERENCE = "#/components/schemas/{name}"


class Schemas:
    """The schemas of many types, made together so that they share components.

    Args:
        types: every type that `of` will be asked for; duplicates are ignored.
        received: those of the types that clients send; in types that only the service sends, each field that is
            always present is required.
        words: {name on the wire: what it means}, for fields of which their struct does not say it.

    Attributes:
        components: {name: schema} that the schemas refer to.
    """

    def __init__(
        self,
        types: Iterable[object],
        received: Iterable[object] = (),
        words: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._types: list[object] = []
        for known in types:
            if known not in self._types:
                self._types.append(known)
        structs = structs_in(self._types)
        self._schemas, references, self.components = self._generate(structs)
        self._words = words
        self._complete(structs, references, received)
        for component in self.components.values():
            for name, field in component.get("properties", {}).items():
                self._describe_by_name(name, field)

    def of(self, type_: object) -> Schema:
        """The schema of one of the types, mostly a reference to a component.

        Raises:
            ValueError: the type was not among those given.
        """
        return self._schemas[self._types.index(type_)]

    def add(self, name: str, schema: Schema) -> Schema:
        """A reference to a component that no type stands for.

        Args:
            name: of the component; whoever adds it again gives the same schema.
            schema: the component.
        """
        self.components[name] = schema
        return {"$ref": REFERENCE.format(name=name)}

    def meaning(self, name: str) -> str | None:
        """What a name on the wire means: the word for it; of `userId` and the like the user's id; else None."""
        known = self._words.get(name)
        if known is None and name.endswith("Id"):
            thing = re.sub(r"[A-Z]", lambda letter: f" {letter[0].lower()}", name.removesuffix("Id"))
            return f"the {thing}'s id."
        return known

    def _describe_by_name(self, name: str, field: Schema) -> None:
        """Describe a field of which no struct says what it means; what ends in `At` is a time (RFC 3339)."""
        if meaning := self.meaning(name):
            field.setdefault("description", meaning)
        if name.endswith("At"):
            for alternative in (field, *field.get("anyOf", ())):
                if alternative.get("type") == "string":
                    alternative.setdefault("format", "date-time")

    def _complete(self, structs: Structs, references: Sequence[Schema], received: Iterable[object]) -> None:
        """Add what msgspec does not say of structs: what their bases say of fields, and which are always sent."""
        exempt = structs_in(received)
        for (struct, fields), reference in zip(structs.items(), references, strict=True):
            component = self.components[reference["$ref"].rpartition("/")[2]]
            for base in struct.__mro__[1:]:
                _spread(base.__doc__, component["properties"])
            if struct not in exempt:
                always = {*component["required"], *fields}
                component["required"] = [name for name in component["properties"] if name in always]

    def _generate(self, structs: Structs) -> tuple[tuple[Schema, ...], tuple[Schema, ...], Schema]:
        """The schemas of the types, references to those of the structs, and the components: all by one look at what
        every type is made of, which is most of what this costs."""
        made, components = msgspec.json.schema_components(
            (*self._types, *structs), schema_hook=_opaque, ref_template=REFERENCE
        )
        schemas, references = made[: len(self._types)], made[len(self._types) :]
        for node in list(_nodes((schemas, components))):
            if RULE in node:
                _rule(node)
            _spell_out(node)
        for component in components.values():
            _spread_docstring(component)
        return schemas, references, components


def used(document: Schema, components: Schema) -> Schema:
    """The components that a document refers to, directly or through other components.

    Leaves out those that are spelled out in place, such as the struct of a query.

    Args:
        document: the document without its components.
        components: {name: schema} of all components.
    """
    kept: Schema = {}
    open_ends = list(_references(document))
    while open_ends:
        name = open_ends.pop()
        if name in components and name not in kept:
            kept[name] = components[name]
            open_ends.extend(_references(components[name]))
    return {name: schema for name, schema in components.items() if name in kept}


def _references(node: object) -> Iterator[str]:
    for schema in _nodes(node):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference.rpartition("/")[2]


def _opaque(_type: type) -> Schema:
    # msgspec takes an empty schema for none at all.
    return dict(ANY_JSON)


def _nodes(node: object) -> Iterator[Schema]:
    """The schemas in a schema, at any depth, and all other objects that it is made of; in no order."""
    open_ends = [node]
    while open_ends:
        node = open_ends.pop()
        if isinstance(node, dict):
            yield node
            open_ends += node.values()
        elif isinstance(node, list | tuple):
            open_ends += node


def _rule(mark: Schema) -> None:
    """Put what a field's rule says in place of its outer bound; a form, or a list of words, bounds the length too."""
    says = mark.pop(RULE)
    if says.keys() & {"pattern", "enum"}:
        mark.pop("maxLength", None)
    mark.update(says)


_NO_LINE_FEED = r"(?!\n)"
"""What a pattern of Python has behind `$`, which stands before a last line feed too; in JSON Schema it does not."""


def _spell_out(node: Schema) -> None:
    """Say what is meant where msgspec leaves it to Python: members and elements of which nothing is said may be any
    JSON (generators take it that there are none), and patterns end where the text does.
    """
    if node.get("type") == "object" and not node.keys() & {"properties", "additionalProperties"}:
        node["additionalProperties"] = dict(ANY_JSON)
    if node.get("type") == "array" and not node.keys() & {"items", "prefixItems"}:
        node["items"] = dict(ANY_JSON)
    if isinstance(pattern := node.get("pattern"), str):
        node["pattern"] = pattern.removesuffix(_NO_LINE_FEED)


_ARGUMENTS = "\nArgs:\n"
_ARGUMENT = re.compile(r"^ {4}(\w[\w, ]*): (.+(?:\n {6,}.+)*)", re.MULTILINE)


def _spread_docstring(component: Schema) -> None:
    """Move what a struct's docstring says about its fields (`Args:`) to the schemas of those fields."""
    docstring = component.get("description", "")
    if text := cleandoc(docstring).partition(_ARGUMENTS)[0]:
        component["description"] = paragraphs(text)
    _spread(docstring, component.get("properties", {}))


def _spread(docstring: str | None, properties: Schema) -> None:
    for names, meaning in _ARGUMENT.findall(cleandoc(docstring or "").partition(_ARGUMENTS)[2]):
        for name in names.split(","):
            described = properties.get(camel(name.strip().rstrip("_")))
            if described is not None:
                described.setdefault("description", " ".join(meaning.split()))


def title(name: str) -> str:
    """A handler's name as a short sentence: `post_message` to `Post message`."""
    return name.replace("_", " ").capitalize()


def camel(name: str) -> str:
    """A name in camelCase: `post_message` to `postMessage`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def paragraphs(docstring: str | None) -> str:
    """A docstring as Markdown: each paragraph on one line, without indentation."""
    blocks = [" ".join(block.split()) for block in (docstring or "").strip().split("\n\n")]
    return "\n\n".join(blocks)


def alternatives(type_: object) -> tuple[object, ...]:
    """The members of a union, whose structs have one schema each; else the type itself."""
    return get_args(type_) if get_origin(type_) in {Union, UnionType} else (type_,)


def one_of(schemas: Sequence[Schema]) -> Schema:
    """A schema that accepts what one of several accepts."""
    return schemas[0] if len(schemas) == 1 else {"oneOf": list(schemas)}
