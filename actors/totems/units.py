"""Upload a totem, and equip one: the two units of work behind `POST …/personal-totem` (contract §8).

An upload is equipped at once. A user keeps their newest 50 uploads, as many as the history shows; older ones are
deleted unless a user has equipped or bought them, or the shop sells them. A model is always shown under its owner's id;
`author` can add a credit, but never a name that is another user's and not the owner's.
"""

from dataclasses import dataclass

from actors.errors import Forbidden, Invalid, NotFound
from actors.field_errors import FieldError
from actors.file_names import clean_name
from actors.texts import line_flaws, lines_flaws, without_joiners
from actors.users.holding import access_in
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.shop.entitlements import TOTEM
from persistence.shop.products import is_on_sale
from persistence.totems import totems
from persistence.totems.totems import Format, Model
from persistence.users.names import ids_named

KEPT = 50
"""How many uploads of one user are kept that no user has equipped or bought, and that the shop does not sell."""

MAX_AUTHOR_CHARACTERS = 64
MAX_DESCRIPTION_CHARACTERS = 500

LEAST_AGE = {"sfw": 0, "nsfw": 16, "nsfl": 16}
"""{content: the lowest age rating that it requires} (contract §8)."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The metadata of an upload.

    Args:
        file_name: the name that the client gives the file; None without one.
        content: the sort of content, `sfw`, `nsfw` or `nsfl`.
        age: the age rating, 0, 16, 18 or 21.
        author_id: the owner's id, the only one allowed; None for the same.
        author_name: a credit, trimmed; None to show the owner's name.
        author_description: free text by the author, trimmed, with line feeds for line breaks.
    """

    format: Format
    file_name: str | None
    content: str
    age: int
    author_id: str | None
    author_name: str | None
    author_description: str | None


def check_draft(draft: Draft, owner_id: str) -> None:
    """Check that the parts of a draft fit together.

    Raises:
        Invalid: the age is too low for the content, the author is another user, or the credit is too
            long or unprintable.
    """
    errors = []
    if draft.age < LEAST_AGE[draft.content]:
        sentence = f"{draft.content} needs an age of {LEAST_AGE[draft.content]} or more"
        errors.append(FieldError("/rating/age", "OUT_OF_RANGE", sentence))
    if draft.author_id is not None and draft.author_id != owner_id:
        errors.append(FieldError("/author/id", "NOT_ALLOWED", "the author is who uploads"))
    if draft.author_name is not None:
        errors += line_flaws(draft.author_name, "/author/name", MAX_AUTHOR_CHARACTERS)
    if draft.author_description is not None:
        errors += lines_flaws(draft.author_description, "/author/description", MAX_DESCRIPTION_CHARACTERS)
    if errors:
        raise Invalid(*errors)


async def upload(
    conn: Connection, owner_id: str, model_id: str, draft: Draft, content: bytes, *, now_ms: int
) -> Model:
    """Store a model and equip its owner with it.

    Args:
        model_id: a fresh id.
        draft: the metadata, checked by `check_draft`.
        content: the model's JSON, checked by `documents.check_upload`.
        now_ms: epoch milliseconds.

    Raises:
        Invalid: the author's name is another user's, and not the owner's own.
        NotFound: the owner has just been removed.
    """
    owner = await require_user(conn, owner_id)
    # Whoever gives their own name poses as nobody, however many users are called so.
    credit = None if draft.author_name == owner.name else draft.author_name
    if credit is not None:
        namesakes = await ids_named(conn, without_joiners(credit))
        if any(user_id != owner_id for user_id in namesakes):
            raise Invalid(FieldError("/author/name", "NOT_ALLOWED", "another user is called so"))
    await totems.lock(conn, [await totems.selected_id(conn, owner_id)])
    model = Model(
        id=model_id,
        owner_id=owner_id,
        owner_name=owner.name,
        file_name=clean_name(draft.file_name or ""),
        format=draft.format,
        rating_content=draft.content,
        rating_age=draft.age,
        author_name=credit,
        author_description=draft.author_description,
        created_at_ms=now_ms,
        last_used_at_ms=now_ms,
        selected_count=1,
    )
    await totems.add(conn, model, content)
    await totems.select(conn, owner_id, model_id, now_ms)
    await totems.drop_oldest(conn, owner_id, keep=KEPT)
    return model


async def shown_to(conn: Connection, user_id: str, model_id: str, now_ms: int, *, gallery: bool) -> Model:
    """A model that a user may see: their own, one that a user has equipped, one that they have bought, or any.

    Args:
        gallery: whether the gallery is open, so that users may see each other's models.

    Raises:
        NotFound: there is no such model that the user may see.
    """
    model = await totems.visible(conn, model_id, user_id, gallery=gallery)
    if model is None and not gallery:
        access = await access_in(conn, user_id, now_ms)
        if access.allows(TOTEM + model_id):
            model = await totems.visible(conn, model_id, user_id, gallery=True)
    if model is None:
        raise NotFound("no such totem")
    return model


async def activate(conn: Connection, user_id: str, model_id: str, now_ms: int, *, gallery: bool) -> Model:
    """Equip a user with a model that they may see.

    Args:
        gallery: whether the gallery is open, so that users may take each other's models.

    Raises:
        NotFound: there is no such user, or no such model that the user may see.
        Forbidden: the model is on sale, and the user has neither made nor bought it.
        LookupError: the model vanished while it was locked; a defect.
    """
    await require_user(conn, user_id)
    await totems.lock(conn, [await totems.selected_id(conn, user_id), model_id])
    model = await shown_to(conn, user_id, model_id, now_ms, gallery=gallery)
    if model.owner_id != user_id and await is_on_sale(conn, "totem", model_id):
        access = await access_in(conn, user_id, now_ms)
        perk = TOTEM + model_id
        if not access.allows(perk):
            raise Forbidden(f"missing permission {perk}", permission=perk)
    await totems.select(conn, user_id, model_id, now_ms)
    chosen = await totems.selected_by(conn, user_id)
    if chosen is None:
        raise LookupError(f"totem {model_id} vanished while it was locked")
    return chosen
