"""The format `blockbench`: a project of that editor (`.bbmodel`).

Checked is what a renderer reads: cubes and meshes, and the textures that their faces name by number or id. File paths
on the author's disk are removed before the model is stored.
"""

from actors.totems.flaws import Json, Object, an_object, flaw, members, number, numbers, optional, text
from actors.totems.textures import MAX_TEXTURES, Images, is_name

MAX_ELEMENTS = 2048
MAX_VERTICES = 16_384
PRIVATE = ("path", "folder", "relative_path", "file_path", "export_path", "save_path", "backup_path")
"""Members that reveal paths on the author's disk; renderers need none of them."""

_FAR = 65_536
_NAME_MAX = 256
_SIDES = frozenset({"down", "up", "north", "south", "west", "east"})


def check_blockbench(model: Object) -> None:
    """Check that a project can be rendered, and remove paths on the author's disk from it.

    Args:
        model: the decoded model, which is changed in place.

    Raises:
        Invalid: the first flaw found.
    """
    meta = an_object(model.get("meta"), "meta")
    text(meta.get("format_version"), "meta/format_version", _NAME_MAX)
    optional(model, "name", lambda name: _pass_text(name, "name"))
    optional(model, "resolution", _resolution)
    known = _textures(model)
    elements = members(model.get("elements"), "elements", MAX_ELEMENTS)
    shapes = [
        _element(an_object(element, f"elements/{index}"), f"elements/{index}", known)
        for index, element in enumerate(elements)
    ]
    if not any(shapes):
        raise flaw("TOO_FEW", "elements", "has nothing to be seen")
    for owner in (model, meta):
        _forget(owner)


def _resolution(value: Json) -> None:
    resolution = an_object(value, "resolution")
    for name in ("width", "height"):
        number(resolution.get(name), f"resolution/{name}", _FAR)
        if resolution[name] <= 0:
            raise flaw("OUT_OF_RANGE", f"resolution/{name}", "is not above 0")


def _textures(model: Object) -> frozenset[Json]:
    """Check the textures; returns everything that a face may name one by."""
    known: set[Json] = set()
    images = Images()
    for index, value in enumerate(members(model.get("textures"), "textures", MAX_TEXTURES)):
        place = f"textures/{index}"
        texture = an_object(value, place)
        source = texture.get("source")
        if isinstance(source, str) and source.startswith("data:"):
            texture["source"] = images.clean(source, f"{place}/source")
        elif source is not None:
            raise flaw("MISMATCH", f"{place}/source", "is not a PNG data URL")
        elif not is_name(text(texture.get("name"), f"{place}/name", _NAME_MAX)):
            raise flaw("BAD_FORMAT", f"{place}/name", "is not the name of a texture, and there is no source")
        known |= {index} | {texture[name] for name in ("id", "uuid") if isinstance(texture.get(name), str)}
        _forget(texture)
    return frozenset(known)


def _element(element: Object, place: str, known: frozenset[Json]) -> bool:
    """Check an element; returns whether it has visible faces."""
    kind = element.get("type", "cube")
    if kind == "cube":
        for name in ("from", "to"):
            numbers(element.get(name), f"{place}/{name}", 3, _FAR)
        faces = an_object(element.get("faces"), f"{place}/faces")
        if not faces.keys() <= _SIDES:
            raise flaw("UNKNOWN_VALUE", f"{place}/faces", "has a side that no cube has")
    elif kind == "mesh":
        faces = _mesh(element, place)
    else:
        return False
    for name in ("origin", "rotation"):
        if element.get(name) is not None:
            numbers(element[name], f"{place}/{name}", 3, _FAR)
    for name, face in faces.items():
        _paint(an_object(face, f"{place}/faces/{name}"), f"{place}/faces/{name}", known)
    return bool(faces)


def _mesh(element: Object, place: str) -> Object:
    vertices = an_object(element.get("vertices"), f"{place}/vertices")
    members(list(vertices), f"{place}/vertices", MAX_VERTICES)
    for vertex in vertices.values():
        numbers(vertex, f"{place}/vertices", 3, _FAR)
    faces = an_object(element.get("faces"), f"{place}/faces")
    for value in faces.values():
        face = an_object(value, f"{place}/faces")
        corners = members(face.get("vertices"), f"{place}/faces", 4, least=1)
        if not all(isinstance(corner, str) and corner in vertices for corner in corners):
            raise flaw("UNKNOWN", f"{place}/faces", "has a corner that is not there")
    return faces


def _paint(face: Object, place: str, known: frozenset[Json]) -> None:
    texture = face.get("texture")
    if texture is None or texture is False:
        return  # a face that is not painted
    if isinstance(texture, bool) or not isinstance(texture, int | str):
        raise flaw("WRONG_TYPE", f"{place}/texture", "is neither the number nor the id of a texture")
    if texture not in known:
        raise flaw("UNKNOWN", f"{place}/texture", "names a texture that is not there")


def _pass_text(value: Json, place: str) -> None:
    text(value, place, _NAME_MAX)


def _forget(owner: Object) -> None:
    for name in PRIVATE:
        owner.pop(name, None)
