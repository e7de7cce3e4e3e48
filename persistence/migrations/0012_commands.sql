-- What game servers are told, how they are set up, and what they can do. JSON is kept as text in bytea, as it goes to
-- clients; secret values are sealed (AES-GCM under a key beside the database). Times are epoch milliseconds.

CREATE TABLE connect_commands (
    id              text    PRIMARY KEY CHECK (length(id) = 24),
    server_id       text    NOT NULL REFERENCES connect_servers ON DELETE CASCADE,
    action          text    NOT NULL,
    payload         bytea   NOT NULL,
    status          text    NOT NULL CHECK (status IN
                    ('pending', 'delivered', 'running', 'success', 'failed', 'rejected', 'expired', 'cancelled')),
    version         integer NOT NULL,
    attempts        integer NOT NULL,
    extension_id    text,
    created_by      text    NOT NULL,
    result          bytea,
    error           text,
    progress        double precision,
    created_at_ms   bigint  NOT NULL,
    updated_at_ms   bigint  NOT NULL,
    delivered_at_ms bigint,
    started_at_ms   bigint,
    finished_at_ms  bigint,
    expires_at_ms   bigint  NOT NULL,
    -- Until then a delivered command is not delivered again.
    leased_until_ms bigint
);

CREATE INDEX connect_commands_by_server ON connect_commands (server_id, created_at_ms, id);
CREATE INDEX connect_commands_open ON connect_commands (server_id, created_at_ms, id) WHERE finished_at_ms IS NULL;
CREATE INDEX connect_commands_by_end ON connect_commands (finished_at_ms) WHERE finished_at_ms IS NOT NULL;

-- The newest version of each source.
CREATE TABLE connect_settings (
    server_id      text    NOT NULL REFERENCES connect_servers ON DELETE CASCADE,
    source         text    NOT NULL,
    version        integer NOT NULL,
    schema_version text    NOT NULL,
    data           bytea   NOT NULL,
    schema         bytea,
    -- {key: secret value}, sealed as a whole; null where there are none.
    sealed         bytea,
    secret_keys    text[]  NOT NULL,
    updated_at_ms  bigint  NOT NULL,
    updated_by     text    NOT NULL,
    PRIMARY KEY (server_id, source)
);

-- What was written, without secret values.
CREATE TABLE connect_settings_history (
    server_id      text    NOT NULL REFERENCES connect_servers ON DELETE CASCADE,
    source         text    NOT NULL,
    version        integer NOT NULL,
    schema_version text    NOT NULL,
    data           bytea   NOT NULL,
    secret_keys    text[]  NOT NULL,
    changed_keys   text[]  NOT NULL,
    updated_at_ms  bigint  NOT NULL,
    updated_by     text    NOT NULL,
    PRIMARY KEY (server_id, source, version)
);

CREATE INDEX connect_settings_history_by_time
    ON connect_settings_history (server_id, updated_at_ms DESC, source, version DESC);

CREATE TABLE connect_extensions (
    extension_id  text   PRIMARY KEY,
    id            text   NOT NULL UNIQUE CHECK (length(id) = 24),
    name          text   NOT NULL,
    description   text   NOT NULL,
    owner_id      text   REFERENCES users ON DELETE SET NULL,
    visibility    text   NOT NULL CHECK (visibility IN ('public', 'private')),
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL
);

CREATE INDEX connect_extensions_by_owner ON connect_extensions (owner_id) WHERE owner_id IS NOT NULL;

CREATE TABLE connect_registrations (
    server_id        text    NOT NULL REFERENCES connect_servers ON DELETE CASCADE,
    extension_id     text    NOT NULL REFERENCES connect_extensions ON DELETE CASCADE,
    name             text    NOT NULL,
    description      text    NOT NULL,
    version          integer NOT NULL,
    actions          bytea   NOT NULL,
    registered_at_ms bigint  NOT NULL,
    last_seen_at_ms  bigint  NOT NULL,
    PRIMARY KEY (server_id, extension_id)
);

CREATE INDEX connect_registrations_by_extension ON connect_registrations (extension_id);
