-- Users, what they may do, and the trail of who changed that. Ids of users are lower-case UUIDs as text, ids of rows
-- that the wire names are 24 hexadecimal digits; times are epoch milliseconds. No extensions.

CREATE TABLE users (
    id                     text PRIMARY KEY CHECK (length(id) = 36),
    name                   text NOT NULL,
    -- lower-cased by the server (Unicode rules do not hang on the cluster's locale), for look-ups.
    name_lower             text NOT NULL,
    -- `iat` of the token that gave the name: an older token on another device does not take it back.
    name_issued_at_s       bigint NOT NULL,
    created_at_ms          bigint NOT NULL,
    updated_at_ms          bigint NOT NULL,
    first_joined_at_ms     bigint,
    last_seen_at_ms        bigint,
    home_region            text,
    last_region            text,
    last_region_at_ms      bigint,
    allow_friend_requests  boolean NOT NULL DEFAULT true,
    server_list_visibility text NOT NULL DEFAULT 'FRIENDS'
        CHECK (server_list_visibility IN ('PUBLIC', 'FRIENDS', 'PRIVATE')),
    -- The user's own JSON, opaque to us: bytea, because jsonb refuses \u0000 and rewrites numbers.
    ui_style               bytea,
    patreon_tier           text,
    discord_username       text,
    supporter_tier         text,
    supporter_since_ms     bigint
);

-- Prefixes need text_pattern_ops, whatever the cluster's locale; equality is served by it too.
CREATE INDEX users_by_name ON users (name_lower text_pattern_ops, id);

CREATE TABLE user_roles (
    user_id       text NOT NULL REFERENCES users ON DELETE CASCADE,
    role          text NOT NULL CHECK (role IN ('moderator', 'admin', 'super-admin')),
    granted_at_ms bigint NOT NULL,
    PRIMARY KEY (user_id, role)
);

CREATE INDEX user_roles_by_role ON user_roles (role);

-- The catalog. A node is never taken out again: its absence grants (service-api §5 rule 6).
CREATE TABLE permissions (
    id            text PRIMARY KEY CHECK (length(id) = 24),
    node          text NOT NULL UNIQUE,
    created_at_ms bigint NOT NULL
);

CREATE TABLE user_grants (
    user_id       text NOT NULL REFERENCES users ON DELETE CASCADE,
    node          text NOT NULL REFERENCES permissions (node),
    negated       boolean NOT NULL,
    expires_at_ms bigint,
    value         double precision,
    unit          text,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    PRIMARY KEY (user_id, node)
);

CREATE TABLE audit_log (
    -- Rows of one millisecond need an order of their own, for the cursor.
    seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text NOT NULL UNIQUE CHECK (length(id) = 24),
    at_ms      bigint NOT NULL,
    -- Without a foreign key: the trail outlives the user. NULL = the command line.
    actor_id   text,
    action     text NOT NULL,
    target_id  text,
    request_id text,
    detail     bytea NOT NULL
);

-- One-time codes of the setup link, as SHA-256: reading this table opens nothing.
CREATE TABLE setup_codes (
    code_hash     bytea PRIMARY KEY CHECK (length(code_hash) = 32),
    created_at_ms bigint NOT NULL
);

CREATE TABLE blocks (
    user_id       text NOT NULL REFERENCES users ON DELETE CASCADE,
    target_id     text NOT NULL,
    reason        text,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    PRIMARY KEY (user_id, target_id)
);

CREATE INDEX blocks_by_target ON blocks (target_id, user_id);
