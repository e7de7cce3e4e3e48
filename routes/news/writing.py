"""Writing articles (contract §10)."""

from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from actors.errors import Conflict, Forbidden, Invalid, NotFound, QuotaExceeded, RevisionConflict, SlugTaken
from actors.ids import ObjectId
from actors.news import fields, markdown, units_articles
from actors.news.fields import ArticlePatch, Checked, NewArticle
from actors.news.public import Article, article_of
from actors.news.rights import authorise
from persistence.news.rows import ArticleRow
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.news.again import article_again, writer_of
from routes.news.parts import RENDERER
from routes.news.reactions import Articles
from routes.rates import ARTICLE


async def may_write(call: Call, news_id: ObjectId) -> None:
    """Guard: requires that the caller may write the article; checked again in the transaction.

    Raises:
        NotFound: there is no such article, or the caller may neither read nor write it.
        Forbidden: they may read it, or belong to its scope, and may not write it.
    """
    await call.service.database.read(units_articles.authorised, news_id, writer_of(call))


@endpoint(
    "POST",
    "/v1/news",
    needs=AUTHENTICATED,
    rate=ARTICLE,
    status=201,
    refusals=(NotFound, Forbidden, Invalid, SlugTaken, QuotaExceeded),
    again=article_again,
)
async def create_article(call: Call, body: NewArticle) -> Article:
    """Writes an article.

    The scope `global` needs `news:write`, `network` its owner, and `server` the capability `server.publication.write`;
    `news:write` may everywhere. A strange or unknown network or server is a 404. The text is Markdown (CommonMark,
    tables and `~~strikethrough~~`); HTML in it is shown as text. A network or server has at most 100 articles; the
    oldest archived ones make room for new ones. Articles are written and changed at most 120 times in four minutes.
    """
    wish, scope = fields.checked(body, call.now_ms), fields.scope_of(body.scope)
    # Checked here since a guard does not see the body, and since only those who may write should cost rendering.
    await call.service.database.read(authorise, scope, writer_of(call))
    wish = await _rendered(call, wish)
    id = call.new_id()
    return await change(
        call,
        units_articles.create,
        id,
        scope,
        wish,
        writer_of(call),
        about=Articles(id),
        shape=partial(_shown, call.now_ms),
    )


@endpoint(
    "PATCH",
    "/v1/news/{newsId}",
    needs=AUTHENTICATED,
    rate=ARTICLE,
    refusals=(NotFound, Forbidden, Invalid, Conflict, RevisionConflict, SlugTaken, QuotaExceeded),
    guard=may_write,
)
async def change_article(call: Call, news_id: ObjectId, body: ArticlePatch) -> Article:
    """Changes an article; what is left out stays, and so do scope and author.

    A status that the table of states does not have is a 409 `INVALID_STATE`, and so is another slug, moment or poll
    once the article was published. Archiving closes the poll for good. `revision` names the article that the caller has
    changed: if that is not the present one, the answer is a 409 `REVISION_CONFLICT`, with the present one in
    `meta.revision`.
    """
    wish = await _rendered(call, fields.checked(body, call.now_ms))
    return await change(
        call,
        partial(units_articles.change, revision=None if body.revision is UNSET else body.revision),
        news_id,
        wish,
        writer_of(call),
        about=Articles(news_id),
        shape=partial(_shown, call.now_ms),
    )


async def _rendered(call: Call, wish: Checked) -> Checked:
    """The changes, with a new text rendered as HTML in a worker thread; waits until earlier texts of the same user are
    rendered, and one of each other."""
    body = wish.columns.get("body")
    if body is None:
        return wish
    html = await call.service.of(RENDERER).run(call.user_id, partial(markdown.render, body, "/body"))
    return replace(wish, columns={**wish.columns, "body_html": html})


def _shown(now_ms: int, row: ArticleRow) -> Article:
    return article_of(row, now_ms, ())
