"""The wire form of totems (service-api §2 Personal totem model, contract §8)."""

from typing import Any, Literal, cast

import msgspec

from actors.bounds import JsonObject
from actors.time import iso
from persistence.totems.totems import Model
from routes.edge.wire import Wire


class Rating(Wire, frozen=True):
    """The content rating of a totem.

    Args:
        content: `sfw`, `nsfw` or `nsfl`.
        age: least age of its viewers: 0, 16, 18 or 21.
    """

    content: Literal["sfw", "nsfw", "nsfl"] = "sfw"
    age: Literal[0, 16, 18, 21] = 0


class Author(Wire, frozen=True):
    """The author of a totem, as its owner gave it.

    Args:
        id: the owner's id.
        name: a credit, or the owner's name.
        description: the owner's text about the author, or null.
    """

    id: str
    name: str
    description: str | None = None


class Totem(Wire, frozen=True, kw_only=True):
    """A totem; everything is null for a user who carries none.

    Args:
        item_model_id: objectId.
        item_model_url: public path of the model; null if it is inlined instead.
        item_model: the model itself, only if it was asked for.
        item_model_rating: the same as `rating`.
        item_model_author: the same as `author`.
        file_name: as uploaded; "" for none.
        format: `minecraft-item-model` or `blockbench`.
        selected_count: how many users carry it now.
        last_used_at: when a user last chose it.
    """

    item_model_id: str | None = None
    item_model_url: str | None = None
    item_model: JsonObject | msgspec.UnsetType = msgspec.UNSET
    item_model_rating: Rating | None = None
    item_model_author: Author | None = None
    file_name: str | None = None
    format: str | None = None
    selected_count: int | None = None
    rating: Rating | None = None
    author: Author | None = None
    created_at: str | None = None
    last_used_at: str | None = None


class GalleryAuthor(Author, frozen=True, omit_defaults=True):
    """The author of a totem in a list: like `Author`, but without a description where there is none."""


class GalleryTotem(Totem, frozen=True, kw_only=True, omit_defaults=True):
    """A totem in a list: like `Totem`, but fields that are empty are left out (service-api §2).

    Args:
        item_model_author: the same as `author`.
        file_name: as uploaded; left out for none.
    """

    item_model_author: GalleryAuthor | None = None
    file_name: str | None = None
    author: GalleryAuthor | None = None


class TotemPage(Wire, frozen=True):
    """A page of a list of totems.

    Args:
        total: how many totems the whole list has.
    """

    items: list[GalleryTotem]
    total: int


def address_of(model_id: str) -> str:
    """The public path of a model."""
    return f"/v1/public/totems/{model_id}"


def shown(model: Model) -> dict[str, Any]:
    """The fields of a `Totem`, without `item_model`, by name."""
    rating = Rating(cast(Any, model.rating_content), cast(Any, model.rating_age))
    author = Author(*_credit(model))
    return {
        "item_model_id": model.id,
        "item_model_url": address_of(model.id),
        "item_model_rating": rating,
        "item_model_author": author,
        "file_name": model.file_name,
        "format": model.format,
        "selected_count": model.selected_count,
        "rating": rating,
        "author": author,
        "created_at": iso(model.created_at_ms),
        "last_used_at": iso(model.last_used_at_ms),
    }


def _credit(model: Model) -> tuple[str, str, str | None]:
    return model.owner_id, model.author_name or model.owner_name, model.author_description


def totem_of(model: Model) -> Totem:
    """The wire form of a model."""
    return Totem(**shown(model))


def page_of(found: tuple[list[Model], int]) -> TotemPage:
    """The wire form of a page: (its models, how many the whole list has)."""
    models, total = found
    return TotemPage([_listed(model) for model in models], total)


def _listed(model: Model) -> GalleryTotem:
    author = GalleryAuthor(*_credit(model))
    fields = {"item_model_author": author, "author": author, "file_name": model.file_name or None}
    return GalleryTotem(**shown(model) | fields)
