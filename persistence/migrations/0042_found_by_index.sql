-- What public lists and erasures look for among many rows.

-- A language that no article has is not looked for in all of them.
CREATE INDEX news_articles_by_locale ON news_articles (locale, pinned_for_all, listed_at_ms, id)
    WHERE status IN ('published', 'scheduled');

-- An erased user is taken from what they have written.
CREATE INDEX releases_by_author ON releases (created_by);
CREATE INDEX channel_pointers_by_user ON channel_pointers (activated_by);

-- What clients have said of one release, newest days first.
DROP INDEX version_counts_by_release;
CREATE INDEX version_counts_by_release ON version_counts (release_id, day);
