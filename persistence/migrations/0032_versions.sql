-- Releases of launchers, services, runtimes and extensions: what there is, and which one a channel points to.

CREATE TABLE releases (
    id              text    PRIMARY KEY CHECK (length(id) = 24),
    scope_type      text    NOT NULL CHECK (scope_type IN ('launcher', 'service', 'runtime', 'extension')),
    scope_id        text    NOT NULL,
    version         text    NOT NULL,
    update_policy   text    NOT NULL CHECK (update_policy IN ('optional', 'recommended', 'mandatory')),
    min_version     text,
    notes           text    NOT NULL,
    status          text    NOT NULL CHECK (status IN ('draft', 'published', 'yanked')),
    percentage      integer NOT NULL CHECK (percentage BETWEEN 0 AND 100),
    -- Decides who is among the first of a roll-out; made here, and shown to nobody who could not change it.
    salt            text    NOT NULL,
    created_by      text    REFERENCES users ON DELETE SET NULL,
    created_at_ms   bigint  NOT NULL,
    published_at_ms bigint,
    UNIQUE (scope_type, scope_id, version)
);

CREATE INDEX releases_by_time ON releases (created_at_ms, id);

CREATE TABLE artifacts (
    id           text     PRIMARY KEY CHECK (length(id) = 24),
    release_id   text     NOT NULL REFERENCES releases ON DELETE CASCADE,
    position     smallint NOT NULL,
    platform     text     NOT NULL CHECK (platform IN ('windows', 'macos', 'linux', 'any')),
    arch         text     NOT NULL CHECK (arch IN ('x64', 'arm64', 'ia32', 'any')),
    kind         text     NOT NULL CHECK (kind IN ('full', 'delta')),
    from_version text,
    file_name    text     NOT NULL,
    url          text,
    size_bytes   bigint   NOT NULL,
    sha256       text,
    sha512       text,
    signature    text,
    key_id       text,
    -- Whether its bytes are here, under their SHA-256.
    hosted       boolean  NOT NULL DEFAULT false,
    UNIQUE (release_id, position)
);

CREATE INDEX artifacts_by_bytes ON artifacts (sha256) WHERE hosted;

CREATE TABLE channel_pointers (
    scope_type          text   NOT NULL,
    scope_id            text   NOT NULL,
    channel             text   NOT NULL,
    release_id          text   NOT NULL REFERENCES releases,
    previous_release_id text   REFERENCES releases ON DELETE SET NULL,
    revision            bigint NOT NULL,
    -- Whether the release is older than the one before it.
    went_back           boolean NOT NULL,
    activated_by        text   REFERENCES users ON DELETE SET NULL,
    activated_at_ms     bigint NOT NULL,
    PRIMARY KEY (scope_type, scope_id, channel)
);

CREATE INDEX channel_pointers_by_release ON channel_pointers (release_id);
CREATE INDEX channel_pointers_by_previous ON channel_pointers (previous_release_id);

-- Which release each revision of a pointer has activated.
CREATE TABLE channel_activations (
    scope_type      text   NOT NULL,
    scope_id        text   NOT NULL,
    channel         text   NOT NULL,
    revision        bigint NOT NULL,
    release_id      text   NOT NULL,
    activated_by    text   REFERENCES users ON DELETE SET NULL,
    activated_at_ms bigint NOT NULL,
    PRIMARY KEY (scope_type, scope_id, channel, revision)
);

CREATE INDEX channel_activations_by_user ON channel_activations (activated_by);

CREATE TABLE version_counts (
    day        integer NOT NULL,
    release_id text    NOT NULL REFERENCES releases ON DELETE CASCADE,
    event      text    NOT NULL,
    platform   text    NOT NULL,
    count      bigint  NOT NULL,
    PRIMARY KEY (day, release_id, event, platform)
);

CREATE INDEX version_counts_by_release ON version_counts (release_id);
