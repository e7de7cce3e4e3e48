-- Discord webhooks of networks, and what is to be posted to them. Times are epoch milliseconds.

CREATE TABLE network_discord (
    network_id       text     PRIMARY KEY REFERENCES networks ON DELETE CASCADE,
    guild_id         text     NOT NULL,
    invite_url       text,
    events           text[]   NOT NULL,
    -- `none`, `gone` and `invalid` have no token.
    webhook_status   text     NOT NULL CHECK (webhook_status IN ('none', 'active', 'unreachable', 'gone', 'invalid')),
    webhook_id       text     CHECK (webhook_id IS NOT NULL OR webhook_status = 'none'),
    -- AES-256-GCM, bound to network and webhook; the key is in the data folder.
    sealed_token     bytea    CHECK ((sealed_token IS NOT NULL) = (webhook_status IN ('active', 'unreachable'))),
    -- How often in a row Discord has not answered, and since when.
    failures         integer  NOT NULL DEFAULT 0,
    failing_since_ms bigint,
    -- Nothing is sent before.
    due_at_ms        bigint   NOT NULL DEFAULT 0,
    created_at_ms    bigint   NOT NULL,
    updated_at_ms    bigint   NOT NULL
);

CREATE INDEX network_discord_unreachable ON network_discord (due_at_ms) WHERE webhook_status = 'unreachable';
CREATE INDEX network_discord_of_servers ON network_discord (network_id)
    WHERE events && ARRAY['server_online', 'server_offline'];

-- Posts in the order in which they are sent. They name what they are about, and get their text when they are sent, so
-- that nothing is told of what is gone by then.
CREATE TABLE discord_outbox (
    seq            bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    network_id     text    NOT NULL REFERENCES network_discord ON DELETE CASCADE,
    event          text    NOT NULL,
    server_id      text    REFERENCES connect_servers ON DELETE CASCADE,
    user_id        text    REFERENCES users ON DELETE CASCADE,
    news_id        text    REFERENCES news_articles ON DELETE CASCADE,
    publication_id text    REFERENCES publications ON DELETE CASCADE,
    created_at_ms  bigint  NOT NULL,
    attempts       integer NOT NULL DEFAULT 0,
    -- Committed before the first byte leaves: Discord may have received it.
    sending        boolean NOT NULL DEFAULT false,
    CHECK (CASE event
        WHEN 'news_published' THEN news_id IS NOT NULL
        WHEN 'publication_listed' THEN publication_id IS NOT NULL
        WHEN 'member_joined' THEN num_nulls(server_id, user_id) = 0
        ELSE event IN ('server_online', 'server_offline') AND server_id IS NOT NULL
    END)
);

CREATE INDEX discord_outbox_by_network ON discord_outbox (network_id, seq);
CREATE INDEX discord_outbox_by_time ON discord_outbox (created_at_ms);
CREATE INDEX discord_outbox_by_server ON discord_outbox (server_id);
CREATE INDEX discord_outbox_by_user ON discord_outbox (user_id);
CREATE INDEX discord_outbox_by_article ON discord_outbox (news_id);
CREATE INDEX discord_outbox_by_publication ON discord_outbox (publication_id);

-- The game servers that were last said to be online, of networks that want to know.
CREATE TABLE discord_servers_online (
    server_id text PRIMARY KEY REFERENCES connect_servers ON DELETE CASCADE
);

-- Nobody has read it: no network could have a webhook.
DROP TABLE news_outbox;
