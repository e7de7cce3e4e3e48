-- Who a user is at other issuers, with which they sign in.

CREATE TABLE identities (
    id           text   PRIMARY KEY CHECK (length(id) = 24),
    user_id      text   NOT NULL REFERENCES users ON DELETE CASCADE,
    issuer       text   NOT NULL,
    subject      text   NOT NULL CHECK (length(subject) <= 255),
    -- What they were called there when they last signed in.
    name         text   CHECK (length(name) <= 64),
    linked_at_ms bigint NOT NULL,
    used_at_ms   bigint NOT NULL,
    UNIQUE (issuer, subject)
);

CREATE INDEX identities_by_user ON identities (user_id, linked_at_ms);

-- The identity that a session began with; it ends when that is removed.
ALTER TABLE sessions ADD COLUMN identity_id text REFERENCES identities ON DELETE CASCADE;
CREATE INDEX sessions_by_identity ON sessions (identity_id) WHERE identity_id IS NOT NULL;
