-- Who belongs to a game server beside its owner, who may come to play, and who is invited to belong to it. Times are
-- epoch milliseconds.

ALTER TABLE connect_servers
    ADD COLUMN access_mode                  text    NOT NULL DEFAULT 'public'
        CHECK (access_mode IN ('public', 'network', 'friends_only', 'invite_only', 'private')),
    ADD COLUMN invite_requires_direct_friend boolean NOT NULL DEFAULT false;

-- The owner is none of them: `connect_servers.owner_id`.
CREATE TABLE connect_members (
    server_id     text   NOT NULL REFERENCES connect_servers ON DELETE CASCADE,
    user_id       text   NOT NULL REFERENCES users ON DELETE CASCADE,
    role          text   NOT NULL CHECK (role IN ('admin', 'operator', 'viewer')),
    -- Beside those of the role.
    capabilities  text[] NOT NULL,
    added_by      text   NOT NULL,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL,
    PRIMARY KEY (server_id, user_id)
);

CREATE INDEX connect_members_by_user ON connect_members (user_id);

-- One that has expired still says `pending`.
CREATE TABLE connect_invites (
    id              text   PRIMARY KEY CHECK (length(id) = 24),
    server_id       text   NOT NULL REFERENCES connect_servers ON DELETE CASCADE,
    inviter_id      text   NOT NULL,
    invitee_user_id text   NOT NULL REFERENCES users ON DELETE CASCADE,
    role            text   NOT NULL CHECK (role IN ('owner', 'admin', 'operator', 'viewer')),
    capabilities    text[] NOT NULL,
    note            text   NOT NULL,
    status          text   NOT NULL CHECK (status IN ('pending', 'accepted', 'revoked')),
    created_at_ms   bigint NOT NULL,
    expires_at_ms   bigint NOT NULL
);

CREATE INDEX connect_invites_by_server ON connect_invites (server_id, created_at_ms, id);
CREATE INDEX connect_invites_by_invitee ON connect_invites (invitee_user_id);
