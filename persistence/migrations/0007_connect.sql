-- Game servers, what they prove themselves with, and the players who let them act. Secrets, claim keys and tickets are
-- kept as SHA-256 only. Times are epoch milliseconds.

CREATE TABLE connect_servers (
    server_id         text    PRIMARY KEY,
    id                text    NOT NULL UNIQUE CHECK (length(id) = 24),
    server_type       text    NOT NULL,
    name              text    NOT NULL,
    -- Who has claimed it. A server that loses its owner is unclaimed again.
    owner_id          text    REFERENCES users ON DELETE SET NULL,
    network_id        text,
    template_id       text,
    is_template       boolean NOT NULL DEFAULT false,
    temporary         boolean NOT NULL DEFAULT false,
    -- The secret; its number, which delegated tokens name; and the one before, until it ends.
    secret            bytea   NOT NULL CHECK (length(secret) = 32),
    secret_number     integer NOT NULL DEFAULT 1,
    former_secret     bytea   CHECK (length(former_secret) = 32),
    former_until_ms   bigint,
    created_at_ms     bigint  NOT NULL,
    updated_at_ms     bigint  NOT NULL,
    -- When it last called; written now and then.
    last_seen_at_ms   bigint  NOT NULL
);

CREATE INDEX connect_servers_by_owner ON connect_servers (owner_id, created_at_ms) WHERE owner_id IS NOT NULL;
-- Those that are removed when they fall silent.
CREATE INDEX connect_servers_fleeting ON connect_servers (last_seen_at_ms) WHERE owner_id IS NULL OR temporary;

CREATE TABLE connect_claim_keys (
    key           bytea  PRIMARY KEY CHECK (length(key) = 32),
    server_id     text   NOT NULL REFERENCES connect_servers ON DELETE CASCADE,
    expires_at_ms bigint NOT NULL
);

CREATE INDEX connect_claim_keys_by_server ON connect_claim_keys (server_id);
CREATE INDEX connect_claim_keys_by_expiry ON connect_claim_keys (expires_at_ms);

-- One a player and server: the newest.
CREATE TABLE connect_tickets (
    server_id     text    NOT NULL REFERENCES connect_servers ON DELETE CASCADE,
    user_id       text    NOT NULL REFERENCES users ON DELETE CASCADE,
    ticket        bytea   NOT NULL CHECK (length(ticket) = 32),
    name          text    NOT NULL,
    expires_at_ms bigint  NOT NULL,
    used          boolean NOT NULL,
    PRIMARY KEY (server_id, user_id)
);

CREATE INDEX connect_tickets_by_expiry ON connect_tickets (expires_at_ms);

-- Who plays where: the player's consent that the server acts for them.
CREATE TABLE connect_sessions (
    server_id     text   NOT NULL REFERENCES connect_servers ON DELETE CASCADE,
    user_id       text   NOT NULL REFERENCES users ON DELETE CASCADE,
    id            text   NOT NULL UNIQUE CHECK (length(id) = 24),
    name          text   NOT NULL,
    started_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL,
    PRIMARY KEY (server_id, user_id)
);
