"""An article as the caller may see it; also the answer to a request repeated with its Idempotency-Key (contract §3).

A receipt stores only the article's id: an article can have hundreds of kilobytes, and may be gone by then.
"""

from collections.abc import Mapping

from actors.news import reading
from actors.news.public import Article, article_of
from actors.news.rights import NODE, Writer
from routes.auditing import stamp_of
from routes.call import Call


def writer_of(call: Call) -> Writer:
    """The caller as one who writes news."""
    return Writer(call.user_id, call.user.access.allows(NODE), stamp_of(call))


async def article_for(call: Call, news_id: str) -> Article:
    """An article for a caller who may read or write it.

    Raises:
        NotFound: there is no such article, or they may do neither.
    """
    seen = await call.service.database.read(reading.one, news_id, writer_of(call))
    (row,) = seen.rows
    return article_of(row, call.now_ms, seen.choices.get(row.id, ()))


async def article_again(call: Call, id: str, arguments: Mapping[str, object]) -> Article:  # noqa: ARG001
    """The article that the first request wrote or voted in.

    Args:
        id: the article's id, from the receipt.
        arguments: not used.

    Raises:
        NotFound: it is gone, or the caller may no longer see it.
    """
    return await article_for(call, id)
