-- Networks of game servers: join tokens, claimed domains, DNS automation and gateway routes. Join tokens are kept as
-- SHA-256, tokens of DNS providers sealed. Times are epoch milliseconds.

CREATE TABLE networks (
    network_id                text    PRIMARY KEY,
    id                        text    NOT NULL UNIQUE CHECK (length(id) = 24),
    name                      text    NOT NULL,
    owner_id                  text    NOT NULL REFERENCES users ON DELETE CASCADE,
    slug                      text    UNIQUE,
    public_summary            text,
    public_profile_mode       text    NOT NULL DEFAULT 'none' CHECK (public_profile_mode IN ('none', 'share_code')),
    public_profile_share_code text,
    created_at_ms             bigint  NOT NULL,
    updated_at_ms             bigint  NOT NULL
);

CREATE INDEX networks_by_owner ON networks (owner_id, created_at_ms);

-- A server is in a network of its owner's, or in none. `last_seen_ip` is written with `last_seen_at_ms`.
ALTER TABLE connect_servers
    ADD COLUMN last_seen_ip text,
    ADD FOREIGN KEY (network_id) REFERENCES networks ON DELETE SET NULL;

CREATE INDEX connect_servers_by_network ON connect_servers (network_id) WHERE network_id IS NOT NULL;

CREATE TABLE network_join_tokens (
    token         bytea   PRIMARY KEY CHECK (length(token) = 32),
    network_id    text    NOT NULL REFERENCES networks ON DELETE CASCADE,
    expires_at_ms bigint  NOT NULL,
    used          boolean NOT NULL DEFAULT false
);

CREATE INDEX network_join_tokens_by_network ON network_join_tokens (network_id, expires_at_ms);
CREATE INDEX network_join_tokens_by_expiry ON network_join_tokens (expires_at_ms);

CREATE TABLE network_domains (
    id                  text   PRIMARY KEY CHECK (length(id) = 24),
    network_id          text   NOT NULL REFERENCES networks ON DELETE CASCADE,
    -- Lower-case A-labels, without a dot at the end.
    domain              text   NOT NULL,
    -- Public: it is in the TXT record.
    token               text   NOT NULL,
    status              text   NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'verified', 'failed')),
    verified_at_ms      bigint,
    -- When the record was last seen.
    confirmed_at_ms     bigint,
    last_checked_at_ms  bigint,
    verification_errors text[] NOT NULL DEFAULT '{}',
    observed            text[] NOT NULL DEFAULT '{}',
    created_at_ms       bigint NOT NULL,
    updated_at_ms       bigint NOT NULL,
    UNIQUE (network_id, domain)
);

-- A domain is verified by one network.
CREATE UNIQUE INDEX network_domains_verified ON network_domains (domain) WHERE status = 'verified';
CREATE INDEX network_domains_by_domain ON network_domains (domain);

CREATE TABLE network_dns (
    network_id    text   PRIMARY KEY REFERENCES networks ON DELETE CASCADE,
    zone_id       text   NOT NULL CHECK (zone_id ~ '^[0-9a-f]{32}$'),
    zone_name     text   NOT NULL,
    -- AES-256-GCM, bound to network and zone; the key is in the data folder.
    sealed_token  bytea  NOT NULL,
    token_status  text   NOT NULL,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL
);

-- Records that the provider is still to be given. Gone once it has them.
CREATE TABLE network_dns_tasks (
    network_id text    NOT NULL REFERENCES network_dns ON DELETE CASCADE,
    type       text    NOT NULL CHECK (type IN ('TXT', 'CNAME', 'A')),
    name       text    NOT NULL,
    -- What the record is to say; NULL: it is to go. For A a host, whose addresses are looked up.
    content    text,
    attempts   integer NOT NULL DEFAULT 0,
    due_at_ms  bigint  NOT NULL,
    PRIMARY KEY (network_id, type, name)
);

CREATE INDEX network_dns_tasks_due ON network_dns_tasks (due_at_ms);

CREATE TABLE gateway_routes (
    server_id      text    PRIMARY KEY REFERENCES connect_servers ON DELETE CASCADE,
    route_host     text    NOT NULL UNIQUE,
    backend_host   text    NOT NULL,
    backend_port   integer NOT NULL CHECK (backend_port BETWEEN 1 AND 65535),
    proxy_protocol boolean NOT NULL,
    gateway_id     text,
    status         text    NOT NULL DEFAULT 'pending',
    created_at_ms  bigint  NOT NULL,
    updated_at_ms  bigint  NOT NULL
);
