-- Voice: the nodes that carry media, the channels that people talk in, and who is in one. What changes without rows of
-- its own (control, who was removed) lies in the summary of a channel's head row. Times are epoch milliseconds.

CREATE TABLE voice_nodes (
    node_id        text    PRIMARY KEY CHECK (length(node_id) = 24),
    server_id      text    NOT NULL REFERENCES connect_servers (server_id) ON DELETE CASCADE,
    region         text    NOT NULL,
    public_url     text    NOT NULL,
    capacity       integer NOT NULL,
    protocol       text    NOT NULL,
    -- Tokens are signed with them, so they are sealed and not hashed.
    sealed_secret  bytea   NOT NULL,
    livekit_key    text,
    sealed_livekit bytea,
    draining       boolean NOT NULL DEFAULT false,
    -- Written once a minute.
    heard_at_ms    bigint  NOT NULL,
    created_at_ms  bigint  NOT NULL
);

CREATE INDEX voice_nodes_by_server ON voice_nodes (server_id);

CREATE TABLE voice_channels (
    id            text   PRIMARY KEY CHECK (length(id) = 36),
    -- The two of a private channel, in order; or the party.
    low_id        text,
    high_id       text,
    party_id      text   UNIQUE,
    created_at_ms bigint NOT NULL,
    UNIQUE (low_id, high_id),
    CHECK ((party_id IS NULL) = (low_id IS NOT NULL AND high_id IS NOT NULL))
);

-- The key keeps everybody in one channel at most.
CREATE TABLE voice_sessions (
    user_id      text    PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    session_id   text    NOT NULL UNIQUE CHECK (length(session_id) = 24),
    channel_id   text    NOT NULL REFERENCES voice_channels ON DELETE CASCADE,
    self_mute    boolean NOT NULL,
    self_deaf    boolean NOT NULL,
    joined_at_ms bigint  NOT NULL,
    -- When the newest token was given.
    issued_at_ms bigint  NOT NULL
);

CREATE INDEX voice_sessions_by_channel ON voice_sessions (channel_id);
