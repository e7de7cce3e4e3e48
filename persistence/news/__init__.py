"""News as rows: articles, polls, follows, and what is still to be told of publications."""
