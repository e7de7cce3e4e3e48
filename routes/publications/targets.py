"""Publishing servers and networks (service-api §4 Publications, contract §7)."""

import re
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from actors.errors import Conflict, Forbidden, Invalid, NotFound, RevisionConflict
from actors.field_errors import FieldError
from actors.ids import Uuid
from actors.publications import units
from actors.publications.public import Publication, SocialLink, publication_of
from actors.publications.statuses import Status
from actors.publications.units import Manager, Surroundings, Wish
from actors.server_address import parse_address
from actors.texts import is_line, line_flaws, lines_flaws, with_line_feeds
from persistence.publications import publications
from persistence.publications.rows import PublicationRow, Target, TargetType
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.connect.parts import GAME_SERVERS
from routes.edge.declare.endpoint import endpoint
from routes.edge.pipeline.conditions import condition_of, etag_of
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Tagged
from routes.edge.wire import Wire
from routes.networks.name_service import NAME_SERVICE
from routes.publications.parts import STATUSES

MAX_NAME_CHARACTERS = 100
MAX_MOTD_CHARACTERS = 300
MAX_TAGS = 10
MAX_LINKS = 10
MAX_LINK_FIELDS = 6

_TARGET = "/v1/connect/publications/{targetType}/{targetId}"
_TAG = re.compile(r"[^\W_]([\w .+&'-]{0,30}[\w.+!])?")
_LINK = re.compile(r"https?://[^\s/?#@\\<>\"]{1,253}([/?#][^\s<>\"]*)?", re.IGNORECASE)

Words = Annotated[str, msgspec.Meta(max_length=32)]
Url = Annotated[str, msgspec.Meta(max_length=300)]


class PublicationBody(Wire, frozen=True):
    """The publication; a field that is left out becomes empty, but `featured` and `suppressed` stay.

    Args:
        address: `host` or `host:port` where players connect, no scheme; an internal address only if the server itself
            calls from it.
        display_name: 1 to 100 printable characters.
        category: a word, or empty.
        tags: at most 10; stored in lower case without duplicates.
        social_links: at most 10 http or https addresses, bare or as the `url` of an object of up to 6 texts, which are
            answered unchanged.
        hidden: whether it is left out of the public list.
        featured, suppressed: only for moderators.
        motd_override: shown in place of the servers' own `motd`.
    """

    address: Annotated[str, msgspec.Meta(max_length=255)]
    display_name: Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARACTERS)]
    category: Words | None = None
    tags: Annotated[tuple[Words, ...], msgspec.Meta(max_length=MAX_TAGS)] = ()
    social_links: Annotated[tuple[Url | SocialLink, ...], msgspec.Meta(max_length=MAX_LINKS)] = ()
    hidden: bool = False
    featured: bool | UnsetType | None = UNSET
    suppressed: bool | UnsetType | None = UNSET
    motd_override: Annotated[str, msgspec.Meta(max_length=MAX_MOTD_CHARACTERS)] | None = None


class PublicationReply(Wire, frozen=True):
    """The publication, or null.

    Args:
        publication: what is published; null for nothing.
    """

    publication: Publication | None


class RemovedPublication(Wire, frozen=True):
    """How many publications were removed: 0 or 1.

    Args:
        removed: how many publications were removed: 0 or 1.
    """

    target_type: TargetType
    target_id: str
    removed: int


async def manages(call: Call, target_type: str, target_id: Uuid) -> None:
    """Guard: requires that the caller manages the target or is a moderator; checked again in the transaction.

    Args:
        target_type: `server` or `network`, as in the path.
        target_id: id of the server or network.

    Raises:
        NotFound: there is no such target, or the caller does not belong to it.
        Forbidden: the caller is a member without the capability.
    """
    await call.service.database.read(units.authorise, _target(target_type, target_id), _manager(call))


@endpoint("GET", _TARGET, needs=AUTHENTICATED, refusals=(NotFound, Forbidden), guard=manages)
async def read_publication(call: Call, target_type: str, target_id: Uuid) -> Tagged[PublicationReply]:
    """The publication of a server or network, or null.

    For its owner, members with `server.settings.write`, and moderators. Its `ETag` changes with what they may write,
    also from null to the first publication.
    """
    target = _target(target_type, target_id)
    row = await call.service.database.read(publications.of_target, target, call.user_id)
    return _tagged(call.service.of(STATUSES).of(target, call.now_ms), row)


@endpoint(
    "PUT",
    _TARGET,
    needs=AUTHENTICATED,
    refusals=(NotFound, Forbidden, Invalid, Conflict, RevisionConflict),
    guard=manages,
)
async def put_publication(
    call: Call, target_type: str, target_id: Uuid, body: PublicationBody
) -> Tagged[PublicationReply]:
    """Publishes a server or network, or replaces its publication.

    The address counts as the target's own if it is below the gateway domain, is where the server itself calls from, or
    is inside a verified domain of its network; else its ownership is PENDING, which the list shows. `If-Match` names
    the `ETag` of the publication that the caller has changed; if that is not the current one, the answer is a 409
    `REVISION_CONFLICT`. Users who have saved the publication keep the address that they have saved, where it gets
    another one. What a moderator has suppressed keeps its address (409 `INVALID_STATE`), and is suppressed on other
    servers as well, also once the first is gone.
    """
    target, wish, service = _target(target_type, target_id), _wish(body), call.service
    heard = service.of(GAME_SERVERS).credentials.last_seen(target_id)
    around = Surroundings(
        new_id=call.new_id(),
        gateway_domain=service.of(NAME_SERVICE).gateway_domain,
        called_from=None if heard is None else heard[1],
        now_ms=call.now_ms,
    )

    # Looked up now, because a transaction's result is shaped on another thread.
    status = service.of(STATUSES).of(target, call.now_ms)
    about, shape = f"publication {target.id}", partial(_tagged, status)
    put = partial(units.put, is_current=condition_of(call, _writable))
    return await change(call, put, target, wish, _manager(call), around, about=about, shape=shape)


@endpoint("DELETE", _TARGET, needs=AUTHENTICATED, refusals=(NotFound, Forbidden, Conflict), guard=manages)
async def remove_publication(call: Call, target_type: str, target_id: Uuid) -> RemovedPublication:
    """Removes the publication.

    Only moderators may remove a suppressed one (409 `INVALID_STATE` otherwise). Users who have saved it keep its
    address, under the same id.
    """
    target = _target(target_type, target_id)

    def shape(removed: int) -> RemovedPublication:
        return RemovedPublication(target.type, target.id, removed)

    about = f"publication {target.id}"
    return await change(call, units.remove, target, _manager(call), about=about, shape=shape)


def _target(type: str, id: Uuid) -> Target:
    try:
        return msgspec.convert({"type": type, "id": id}, Target)
    except msgspec.ValidationError:
        raise NotFound from None


def _tagged(status: Status, row: PublicationRow | None) -> Tagged[PublicationReply]:
    shown = PublicationReply(None if row is None else publication_of(row, status))
    return Tagged(shown, etag_of(_writable(row)))


def _writable(row: PublicationRow | None) -> object:
    """The fields of a publication that a `PublicationBody` can change, for the ETag."""
    if row is None:
        return None
    words = (row.address, row.display_name, row.category, row.tags, row.social_links, row.motd_override)
    return [*words, row.hidden, row.featured, row.suppressed]


def _manager(call: Call) -> Manager:
    return Manager(call.user_id, call.user.access.is_moderator, stamp_of(call))


def _wish(body: PublicationBody) -> Wish:
    errors = []
    address = parse_address(body.address.strip())
    if address is None:
        errors.append(FieldError("/address", "BAD_FORMAT", "host or host:port, without a scheme"))
    name = body.display_name.strip()
    errors += line_flaws(name, "/displayName", MAX_NAME_CHARACTERS)
    motd = with_line_feeds(body.motd_override or "").strip()
    errors += lines_flaws(motd, "/motdOverride", MAX_MOTD_CHARACTERS)
    category = (body.category or "").strip().lower()
    if category and _TAG.fullmatch(category) is None:
        errors.append(FieldError("/category", "BAD_FORMAT", "a word of letters and digits"))
    tags = tuple(dict.fromkeys(tag.strip().lower() for tag in body.tags))
    errors += [
        FieldError(f"/tags/{at}", "BAD_FORMAT", "a word of letters and digits")
        for at, tag in enumerate(body.tags)
        if _TAG.fullmatch(tag.strip().lower()) is None
    ]
    errors += _link_errors(body.social_links)
    if errors or address is None:
        raise Invalid(*errors)
    return Wish(
        address=address,
        display_name=name,
        category=category,
        tags=tags,
        social_links=msgspec.json.encode(body.social_links).decode(),
        hidden=body.hidden,
        motd_override=motd or None,
        featured=_set(body.featured),
        suppressed=_set(body.suppressed),
    )


def _set(wished: Any) -> bool | None:
    return wished if isinstance(wished, bool) else None


def _link_errors(links: tuple[str | SocialLink, ...]) -> list[FieldError]:
    return [
        FieldError(
            f"/socialLinks/{at}", "BAD_FORMAT", "an http or https address, bare or as url among other texts"
        )
        for at, link in enumerate(links)
        if not _is_link({"url": link} if isinstance(link, str) else link)
    ]


def _is_link(link: SocialLink) -> bool:
    if len(link) > MAX_LINK_FIELDS or _LINK.fullmatch(link.get("url") or "") is None:
        return False
    return all(is_line(text) for field in link.items() for text in field if text is not None)
