"""What of news a user may take with them."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("news_articles", "author_id = $1", leaves=("body_html",)),
    Exported("news_votes", "user_id = $1"),
    Exported("news_follows", "user_id = $1"),
)
