"""Which rows about news go into the export of a user's data."""

from persistence.exporting import Exported

EXPORTED = (
    Exported("news_articles", "author_id = $1", leaves=("body_html",)),
    Exported("news_polls", "news_id IN (SELECT id FROM news_articles WHERE author_id = $1)"),
    Exported("news_votes", "user_id = $1"),
    Exported("news_follows", "user_id = $1"),
)
