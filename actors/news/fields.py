"""What an article may consist of: every broken field is found at once, with its JSON pointer (contract §10). Pure."""

import re
import unicodedata
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from actors.bounds import MAX_NAMED, Bigint, IdText, LongText, ShortText, UuidText, ruled, whole
from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.id_fields import uuid_in
from actors.news import markdown
from actors.news.locales import MAX_LOCALE_CHARACTERS, is_locale, spelled
from actors.polls import Poll, PollDraft, check_poll
from actors.texts import line_flaws, lines_flaws, with_line_feeds
from actors.time import parse_iso
from actors.web_addresses import https_flaws
from persistence.news.rows import Scope, ScopeType, Status, Visibility

MAX_TITLE_CHARACTERS = 200
MAX_SUMMARY_CHARACTERS = 500
MAX_COVER_CHARACTERS = 500
MAX_WORD_CHARACTERS = 32
MAX_TAGS = 10
MAX_SLUG_CHARACTERS = 64
MAX_AHEAD_MS = 366 * 24 * 3600 * 1000
"""How far ahead an article may be scheduled (contract §10)."""

SLUG_FORM = re.compile(r"[a-z0-9-]{3,64}", re.ASCII)
_NO_SLUG = re.compile(r"[^a-z0-9]+", re.ASCII)


Title = Annotated[ShortText, ruled(minLength=1, maxLength=MAX_TITLE_CHARACTERS)]
Summary = Annotated[ShortText, ruled(maxLength=MAX_SUMMARY_CHARACTERS)]
Body = Annotated[LongText, ruled(minLength=1, maxLength=markdown.BODY_MAX_BYTES)]
Slug = Annotated[ShortText, ruled(pattern=whole(SLUG_FORM))]
CoverUrl = Annotated[ShortText, ruled(maxLength=MAX_COVER_CHARACTERS)]
Category = Annotated[ShortText, ruled(maxLength=MAX_WORD_CHARACTERS)]
Tag = Annotated[ShortText, ruled(minLength=1, maxLength=MAX_WORD_CHARACTERS)]
Tags = Annotated[tuple[Tag, ...], msgspec.Meta(max_length=MAX_NAMED), ruled(maxItems=MAX_TAGS)]
Locale = Annotated[ShortText, ruled(maxLength=MAX_LOCALE_CHARACTERS)]


class ArticleFields(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The fields of an article that a writer sets.

    Args:
        title: the headline, 1 to 200 characters.
        summary: a sentence or two for lists, at most 500 characters of plain text; null empties it.
        body: the text, in Markdown (CommonMark, tables and `~~strikethrough~~`, no HTML), at most 32 KiB, with at most
            1,000 `[`.
        slug: its name in addresses: 3 to 64 of a-z, 0-9 and -, unique within the scope; made from the title where none
            is given, and fixed once the article was published.
        cover_url: an https address of an image, at most 500 characters.
        category: what it is listed under, at most 32 characters, case ignored.
        tags: words it is found by, at most 10, each of at most 32 characters, case ignored.
        locale: a language tag (BCP 47), case ignored; `en` where none is given.
        pinned: whether it comes before the others in lists of its own scope, and everywhere where its scope is global.
        visibility: `authenticated` leaves it out of the public lists, and of what is posted elsewhere.
        status: see the table of states in `docs/news.md`.
        publish_at: the moment of publication, ISO 8601, at most 366 days ahead; fixed once the article was published.
        poll: as in chat; fixed once the article was published. null removes it.
        notify: whether followers of the network or server are notified when it is published; global news notifies
            nobody.
    """

    title: Title | UnsetType = UNSET
    summary: Summary | UnsetType | None = UNSET
    body: Body | UnsetType = UNSET
    slug: Slug | UnsetType | None = UNSET
    cover_url: CoverUrl | UnsetType | None = UNSET
    category: Category | UnsetType | None = UNSET
    tags: Tags | UnsetType | None = UNSET
    locale: Locale | UnsetType | None = UNSET
    pinned: bool | UnsetType = UNSET
    visibility: Visibility | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    publish_at: IdText | UnsetType | None = UNSET
    poll: PollDraft | UnsetType | None = UNSET
    notify: bool | UnsetType = UNSET


class ArticlePatch(ArticleFields, frozen=True, kw_only=True, rename="camel"):
    """Changes of an article; what is left out stays. Its fields are those of `ArticleFields`.

    Args:
        revision: the revision of the article that the writer has changed; left out for any.
    """

    revision: Bigint | UnsetType = UNSET


class ScopeDraft(msgspec.Struct, frozen=True, rename="camel"):
    """Whose news a new article is.

    Args:
        type: for whom it is: everybody, or those who follow a network or a server.
        id: the network's or server's id; left out for `global`.
    """

    type: ScopeType
    id: UuidText | None = None


class NewArticle(ArticleFields, frozen=True, kw_only=True, rename="camel"):
    """A new article; its fields are those of `ArticleFields`, of which title and body are required.

    Args:
        scope: whose news it is, for good.
        status: a draft where none is given.
    """

    scope: ScopeDraft
    title: Title
    body: Body
    status: Literal["draft", "scheduled", "published"] = "draft"


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """Changes that break no rule of their own.

    Args:
        columns: {field of `ArticleRow`: its new value}, of fields that are simply replaced.
        slug, publish_at_ms, poll, status: the wished values of fields whose change depends on the article's state.
    """

    columns: dict[str, Any]
    slug: str | UnsetType
    publish_at_ms: int | UnsetType | None
    poll: Poll | UnsetType | None
    status: Status | UnsetType


def checked(patch: ArticleFields, now_ms: int) -> Checked:
    """The changes in the form in which they are kept. Takes time linear in their length.

    Args:
        patch: the fields as the client sent them.
        now_ms: epoch milliseconds.

    Raises:
        Invalid: fields break a rule; it has an error for each.
    """
    errors: list[FieldError] = []
    columns = _texts(patch, errors) | _words(patch, errors)
    columns |= {
        name: value
        for name in ("pinned", "visibility", "notify")
        if (value := getattr(patch, name)) is not UNSET
    }
    slug = patch.slug if isinstance(patch.slug, str) else UNSET
    if isinstance(slug, str) and SLUG_FORM.fullmatch(slug) is None:
        errors.append(FieldError("/slug", "BAD_FORMAT", "3 to 64 of a-z, 0-9 and -"))
    publish_at_ms = _moment(patch.publish_at, now_ms, errors)
    poll: Poll | UnsetType | None = UNSET if isinstance(patch.poll, UnsetType) else None
    if isinstance(patch.poll, PollDraft):
        poll = check_poll(patch.poll, now_ms, errors)
    if errors:
        raise Invalid(*errors)
    return Checked(columns=columns, slug=slug, publish_at_ms=publish_at_ms, poll=poll, status=patch.status)


def scope_of(draft: ScopeDraft) -> Scope:
    """The scope that a client named.

    Raises:
        Invalid: the id of a network or server is missing, or is no uuid.
    """
    if draft.type == "global":
        return Scope("global")
    if not draft.id:
        raise Invalid(FieldError("/scope/id", "REQUIRED", f"the id of the {draft.type}"))
    return Scope(draft.type, uuid_in(draft.id, "/scope/id"))


def slug_of(title: str) -> str:
    """A slug made from a title; `news` where no letters of it can stand in one."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = _NO_SLUG.sub("-", plain)[:MAX_SLUG_CHARACTERS].strip("-")
    return slug if len(slug) >= 3 else "news"


def _texts(patch: ArticleFields, errors: list[FieldError]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if isinstance(patch.title, str):
        columns["title"] = title = patch.title.strip()
        errors += line_flaws(title, "/title", MAX_TITLE_CHARACTERS)
    if not isinstance(patch.summary, UnsetType):
        columns["summary"] = summary = with_line_feeds(patch.summary or "").strip()
        errors += lines_flaws(summary, "/summary", MAX_SUMMARY_CHARACTERS)
    if isinstance(patch.body, str):
        columns["body"] = body = with_line_feeds(patch.body)
        flaws = markdown.checked(body, "/body")
        errors += flaws or lines_flaws(body, "/body", markdown.BODY_MAX_BYTES, required=True)
    if not isinstance(patch.cover_url, UnsetType):
        columns["cover_url"] = cover = patch.cover_url or None
        if cover is not None:
            errors += https_flaws(cover, "/coverUrl", MAX_COVER_CHARACTERS)
    return columns


def _words(patch: ArticleFields, errors: list[FieldError]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if not isinstance(patch.category, UnsetType):
        columns["category"] = category = (patch.category or "").strip().lower() or None
        if category is not None:
            errors += line_flaws(category, "/category", MAX_WORD_CHARACTERS)
    if not isinstance(patch.tags, UnsetType):
        tags = [tag.strip().lower() for tag in patch.tags or ()]
        columns["tags"] = tuple(dict.fromkeys(tags))
        if len(tags) > MAX_TAGS:
            errors.append(FieldError("/tags", "TOO_MANY", f"at most {MAX_TAGS} tags"))
        else:
            for place, tag in enumerate(tags):
                errors += line_flaws(tag, f"/tags/{place}", MAX_WORD_CHARACTERS)
    if not isinstance(patch.locale, UnsetType):
        locale = patch.locale or "en"
        columns["locale"] = spelled(locale)
        if not is_locale(locale):
            errors.append(FieldError("/locale", "BAD_FORMAT", "a language tag, such as en or de-AT"))
    return columns


def _moment(text: str | UnsetType | None, now_ms: int, errors: list[FieldError]) -> int | UnsetType | None:
    if not isinstance(text, str):
        return text
    try:
        moment_ms = parse_iso(text)
    except ValueError:
        errors.append(FieldError("/publishAt", "BAD_FORMAT", "an ISO 8601 timestamp with a zone"))
        return None
    if moment_ms > now_ms + MAX_AHEAD_MS:
        errors.append(FieldError("/publishAt", "TOO_FAR", "at most 366 days ahead"))
    return moment_ms
