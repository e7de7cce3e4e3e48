"""News as rows: articles, polls, follows, and which followers are still to be notified of an article."""
