"""The format `minecraft-item-model`: the JSON of a resource pack's item, with elements and textures.

Checked is what a renderer reads: an element has two corners and faces, a face names a texture, and every such name
can be resolved. All other members are kept as they are.
"""

from actors.totems.flaws import Json, Object, an_object, flaw, members, number, numbers, optional, text
from actors.totems.textures import MAX_TEXTURES, PREFIX, Images, is_name

MAX_ELEMENTS = 2048
LEAST_CORNER, MOST_CORNER = -16, 32
"""The least and the greatest coordinate of an element's corners: the game refuses models beyond."""

FACES = frozenset({"down", "up", "north", "south", "west", "east"})
SLOTS_MAX = 16
_FAR = 4096
_REFERENCE_MAX = 128
_UNPAINTED = "missing"  # what editors write for a face without a texture


def check_item_model(model: Object) -> None:
    """Check that a model can be rendered.

    Args:
        model: the decoded model, whose images are replaced by cleaned ones.

    Raises:
        Invalid: the first flaw found.
    """
    textures = _textures(model)
    elements = members(model.get("elements"), "elements", MAX_ELEMENTS)
    for index, element in enumerate(elements):
        _element(an_object(element, f"elements/{index}"), f"elements/{index}", textures)
    optional(model, "parent", _parent)
    optional(model, "display", _display)
    optional(model, "texture_size", lambda size: numbers(size, "texture_size", 2, _FAR))


def _textures(model: Object) -> Object:
    textures = an_object(model.get("textures"), "textures")
    members(list(textures), "textures", MAX_TEXTURES)
    images = Images()
    for name, value in textures.items():
        place = f"textures/{name[:_REFERENCE_MAX]}"
        text(name, "textures", _REFERENCE_MAX)
        if not isinstance(value, str):
            raise flaw("WRONG_TYPE", place, "is not a string")
        if value.startswith("#"):
            _follow(value, textures, place)
        elif value.startswith("data:"):
            textures[name] = images.clean(value, place)
        elif not is_name(value):
            raise flaw("BAD_FORMAT", place, f"is neither the name of a texture nor {PREFIX}…")
    return textures


def _follow(reference: str, textures: Object, place: str) -> None:
    """Check that a `#name` resolves to a texture; names may refer to names, but not in a circle."""
    seen: set[str] = set()
    value: Json = reference
    while isinstance(value, str) and value.startswith("#"):
        if value in seen:
            raise flaw("UNKNOWN", place, "names itself")
        seen.add(value)
        if value[1:] not in textures:
            raise flaw("UNKNOWN", place, "names a texture that is not there")
        value = textures[value[1:]]


def _element(element: Object, place: str, textures: Object) -> None:
    for corner in ("from", "to"):
        numbers(element.get(corner), f"{place}/{corner}", 3, MOST_CORNER)
        if min(element[corner]) < LEAST_CORNER:
            raise flaw("OUT_OF_RANGE", f"{place}/{corner}", f"is below {LEAST_CORNER}")
    optional(element, "rotation", lambda rotation: _rotation(rotation, f"{place}/rotation"))
    faces = an_object(element.get("faces"), f"{place}/faces")
    for name, face in faces.items():
        if name not in FACES:
            raise flaw("UNKNOWN_VALUE", f"{place}/faces", "has a side that no element has")
        _face(an_object(face, f"{place}/faces/{name}"), f"{place}/faces/{name}", textures)


def _rotation(value: Json, place: str) -> None:
    rotation = an_object(value, place)
    numbers(rotation.get("origin"), f"{place}/origin", 3, _FAR)
    if "axis" in rotation or "angle" in rotation:
        if rotation.get("axis") not in ("x", "y", "z"):
            raise flaw("UNKNOWN_VALUE", f"{place}/axis", "is none of x, y, z")
        number(rotation.get("angle"), f"{place}/angle", 360)
    for axis in ("x", "y", "z"):
        if rotation.get(axis) is not None:
            number(rotation[axis], f"{place}/{axis}", 360)


def _face(face: Object, place: str, textures: Object) -> None:
    texture = text(face.get("texture"), f"{place}/texture", _REFERENCE_MAX)
    name = texture.removeprefix("#")
    if name != _UNPAINTED and name not in textures:
        raise flaw("UNKNOWN", f"{place}/texture", "names a texture that is not there")
    optional(face, "uv", lambda uv: numbers(uv, f"{place}/uv", 4, _FAR))
    if face.get("rotation", 0) not in (0, 90, 180, 270):
        raise flaw("UNKNOWN_VALUE", f"{place}/rotation", "is none of 0, 90, 180, 270")
    optional(face, "tintindex", lambda index: number(index, f"{place}/tintindex", _FAR))


def _parent(value: Json) -> None:
    if not is_name(text(value, "parent", _REFERENCE_MAX)):
        raise flaw("BAD_FORMAT", "parent", "is not the name of a model")


def _display(value: Json) -> None:
    slots = an_object(value, "display")
    members(list(slots), "display", SLOTS_MAX, least=0)
    for slot, place in ((slot, f"display/{name[:_REFERENCE_MAX]}") for name, slot in slots.items()):
        transform = an_object(slot, place)
        for name in ("rotation", "translation", "scale"):
            if transform.get(name) is not None:
                numbers(transform[name], f"{place}/{name}", 3, _FAR)
