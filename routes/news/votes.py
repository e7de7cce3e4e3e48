"""Voting in the polls of articles (contract §10)."""

from functools import partial

from actors.errors import Invalid, NotFound, PollClosed
from actors.ids import ObjectId
from actors.news import units_votes
from actors.news.public import Article, article_of
from actors.news.units_votes import Voted
from actors.polls import OptionIds
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire
from routes.news.again import article_again


class NewsVote(Wire, frozen=True):
    """The caller's vote.

    Args:
        option_ids: ids of all chosen options; empty withdraws the vote.
    """

    option_ids: OptionIds


async def in_view(call: Call, news_id: ObjectId) -> None:
    """Guard: requires that the article is there for readers, with a poll; checked again in the transaction.

    Raises:
        NotFound: there is no such article for readers, or it has no poll.
    """
    await call.service.database.read(units_votes.polled, news_id, call.now_ms)


@endpoint(
    "POST",
    "/v1/news/{newsId}/poll/vote",
    needs=AUTHENTICATED,
    refusals=(NotFound, Invalid, PollClosed),
    guard=in_view,
    again=article_again,
)
async def vote_in_news(call: Call, news_id: ObjectId, body: NewsVote) -> Article:
    """Replaces the caller's vote; `[]` withdraws it.

    More than one option without `multiple`, or an unknown one, is a 422; a poll that is closed or past its expiry, or
    whose article is archived, a 409 `POLL_CLOSED`; an article without a poll a 404. Answers the Article with the
    caller's own `selected`.
    """
    shape = partial(_shown, call.now_ms)
    unit = units_votes.vote
    return await change(
        call, unit, news_id, call.user_id, body.option_ids, call.now_ms, about=f"votes {news_id}", shape=shape
    )


def _shown(now_ms: int, voted: Voted) -> Article:
    return article_of(voted.row, now_ms, voted.choice)
