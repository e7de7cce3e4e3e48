-- News: articles with their polls, who follows what, and what is still to be told of a publication.

CREATE TABLE news_articles (
    id              text    PRIMARY KEY CHECK (length(id) = 24),
    -- Neither = global.
    network_id      text    REFERENCES networks ON DELETE CASCADE,
    server_id       text    REFERENCES connect_servers ON DELETE CASCADE,
    scope_type      text    NOT NULL GENERATED ALWAYS AS (
        CASE WHEN network_id IS NOT NULL THEN 'network' WHEN server_id IS NOT NULL THEN 'server' ELSE 'global' END
    ) STORED,
    scope_id        text    NOT NULL GENERATED ALWAYS AS (coalesce(network_id, server_id, '')) STORED,
    slug            text    NOT NULL,
    title           text    NOT NULL,
    summary         text    NOT NULL,
    body            text    NOT NULL,
    body_html       text    NOT NULL,
    size_bytes      integer NOT NULL,
    cover_url       text,
    category        text,
    tags            text[]  NOT NULL,
    author_id       text    REFERENCES users ON DELETE SET NULL,
    locale          text    NOT NULL,
    pinned          boolean NOT NULL,
    -- Those of one network or server are pinned in its own list only.
    pinned_for_all  boolean NOT NULL GENERATED ALWAYS AS (pinned AND network_id IS NULL AND server_id IS NULL) STORED,
    status          text    NOT NULL CHECK (status IN ('draft', 'scheduled', 'published', 'archived')),
    visibility      text    NOT NULL CHECK (visibility IN ('public', 'authenticated')),
    publish_at_ms   bigint  CHECK (publish_at_ms IS NOT NULL OR status <> 'scheduled'),
    published_at_ms bigint  CHECK (published_at_ms IS NOT NULL OR status <> 'published'),
    created_at_ms   bigint  NOT NULL,
    updated_at_ms   bigint  NOT NULL,
    -- Its place in lists. A scheduled article has the one that it will have, so that its publication moves nothing.
    listed_at_ms    bigint  NOT NULL GENERATED ALWAYS AS (
        CASE WHEN status = 'scheduled' THEN publish_at_ms ELSE coalesce(published_at_ms, created_at_ms) END
    ) STORED,
    -- Rises with each change, so that memory tells which of two changes was the later one.
    revision        bigint  NOT NULL DEFAULT 1,
    -- Followers are to be notified when it is published.
    notify          boolean NOT NULL,
    CHECK (num_nonnulls(network_id, server_id) <= 1),
    UNIQUE (scope_type, scope_id, slug)
);

CREATE INDEX news_articles_to_read ON news_articles (pinned_for_all, listed_at_ms, id)
    WHERE status IN ('published', 'scheduled');
CREATE INDEX news_articles_by_category ON news_articles (category, listed_at_ms, id)
    WHERE status IN ('published', 'scheduled');
CREATE INDEX news_articles_by_scope ON news_articles (scope_type, scope_id, pinned, listed_at_ms, id);
CREATE INDEX news_articles_by_network ON news_articles (network_id, listed_at_ms, id) WHERE network_id IS NOT NULL;
CREATE INDEX news_articles_by_server ON news_articles (server_id, listed_at_ms, id) WHERE server_id IS NOT NULL;
CREATE INDEX news_articles_due ON news_articles (publish_at_ms) WHERE status = 'scheduled';
CREATE INDEX news_articles_unpublished ON news_articles (status, pinned_for_all, listed_at_ms, id)
    WHERE status <> 'published';
CREATE INDEX news_articles_by_author ON news_articles (author_id);

-- The poll of an article: its question, its options and the counts of their votes.
CREATE TABLE news_polls (
    news_id text  PRIMARY KEY REFERENCES news_articles ON DELETE CASCADE,
    poll    bytea NOT NULL
);

-- One user's whole choice. Of an erased user the vote stays, without them, so that the counts stay true.
CREATE TABLE news_votes (
    news_id    text   NOT NULL REFERENCES news_polls ON DELETE CASCADE,
    user_id    text   REFERENCES users ON DELETE SET NULL,
    option_ids text[] NOT NULL,
    UNIQUE (news_id, user_id)
);

CREATE INDEX news_votes_by_user ON news_votes (user_id);

CREATE TABLE news_follows (
    user_id    text    NOT NULL REFERENCES users ON DELETE CASCADE,
    place      integer NOT NULL,
    network_id text    REFERENCES networks ON DELETE CASCADE,
    server_id  text    REFERENCES connect_servers ON DELETE CASCADE,
    category   text,
    PRIMARY KEY (user_id, place),
    CHECK (num_nonnulls(network_id, server_id, category) = 1)
);

CREATE UNIQUE INDEX news_follows_of_network ON news_follows (network_id, user_id) WHERE network_id IS NOT NULL;
CREATE UNIQUE INDEX news_follows_of_server ON news_follows (server_id, user_id) WHERE server_id IS NOT NULL;

-- Articles whose followers are being notified, in the order of their ids; written when the article is published.
CREATE TABLE news_announcements (
    news_id       text   PRIMARY KEY REFERENCES news_articles ON DELETE CASCADE,
    after_user_id text   NOT NULL,
    created_at_ms bigint NOT NULL
);

CREATE INDEX news_announcements_by_time ON news_announcements (created_at_ms, news_id);

-- What is to be posted to a network's other channels; written when the article is published.
CREATE TABLE news_outbox (
    seq           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    network_id    text   NOT NULL REFERENCES networks ON DELETE CASCADE,
    news_id       text   NOT NULL UNIQUE REFERENCES news_articles ON DELETE CASCADE,
    created_at_ms bigint NOT NULL
);

CREATE INDEX news_outbox_by_network ON news_outbox (network_id, seq);
CREATE INDEX news_outbox_by_time ON news_outbox (created_at_ms);

-- Articles as they are read.
CREATE VIEW news AS
SELECT news_articles.*, users.name AS author_name, news_polls.poll
FROM news_articles
LEFT JOIN users ON users.id = news_articles.author_id
LEFT JOIN news_polls ON news_polls.news_id = news_articles.id;
