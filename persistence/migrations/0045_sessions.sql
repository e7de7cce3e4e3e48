-- Where users are signed in with a browser, and the links that sign somebody in once.

CREATE TABLE sessions (
    id            text    PRIMARY KEY CHECK (length(id) = 24),
    user_id       text    NOT NULL REFERENCES users ON DELETE CASCADE,
    -- SHA-256 of what the browser's cookie holds.
    secret_hash   bytea   NOT NULL UNIQUE CHECK (length(secret_hash) = 32),
    made_by       text    NOT NULL CHECK (made_by IN ('setup', 'link', 'token', 'issuer')),
    -- The session that it was made from, and ends with.
    parent_id     text    REFERENCES sessions ON DELETE CASCADE,
    -- When the token ends that it was made with; NULL where no token made it.
    bound_at_ms   bigint,
    -- Its issuer may not vouch for super-admins.
    capped        boolean NOT NULL,
    created_at_ms bigint  NOT NULL,
    used_at_ms    bigint  NOT NULL,
    address       text    NOT NULL CHECK (length(address) <= 64),
    browser       text    NOT NULL CHECK (length(browser) <= 200)
);

CREATE INDEX sessions_by_user ON sessions (user_id, used_at_ms);
CREATE INDEX sessions_by_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX sessions_by_use ON sessions (used_at_ms);
CREATE INDEX sessions_by_age ON sessions (created_at_ms);
CREATE INDEX sessions_by_bound ON sessions (bound_at_ms) WHERE bound_at_ms IS NOT NULL;

CREATE TABLE sign_in_links (
    -- SHA-256 of the code in the link.
    code_hash     bytea   PRIMARY KEY CHECK (length(code_hash) = 32),
    user_id       text    NOT NULL REFERENCES users ON DELETE CASCADE,
    -- Who asked for it; NULL for the command line.
    maker_id      text    REFERENCES users ON DELETE CASCADE,
    parent_id     text    REFERENCES sessions ON DELETE CASCADE,
    bound_at_ms   bigint,
    capped        boolean NOT NULL,
    created_at_ms bigint  NOT NULL,
    expires_at_ms bigint  NOT NULL
);

CREATE INDEX sign_in_links_by_user ON sign_in_links (user_id);
CREATE INDEX sign_in_links_by_maker ON sign_in_links (maker_id, created_at_ms);
CREATE INDEX sign_in_links_by_parent ON sign_in_links (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX sign_in_links_by_end ON sign_in_links (expires_at_ms);

-- A super-admin has made a link that signs this user in.
ALTER TABLE notifications DROP CONSTRAINT notifications_kind_check;
ALTER TABLE notifications ADD CONSTRAINT notifications_kind_check CHECK (kind IN (
    'friend_request', 'friend_accepted', 'party_invite', 'server_invite', 'cape_moderated', 'news', 'sign_in_link'
));
