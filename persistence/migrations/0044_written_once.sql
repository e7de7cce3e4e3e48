-- What is written once however often it is tried, and what lists look for.

-- Which batches of counts of releases were added: one whose outcome was unknown is tried again.
CREATE TABLE version_count_batches (
    id          text   PRIMARY KEY,
    added_at_ms bigint NOT NULL
);

CREATE INDEX version_count_batches_by_time ON version_count_batches (added_at_ms);

-- A tag that few articles have is not looked for in all of them. Without a list of what is pending, which a search would
-- have to read as well.
CREATE INDEX news_articles_by_tag ON news_articles USING gin (tags) WITH (fastupdate = off);
