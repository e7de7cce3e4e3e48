-- Parties, who is in one, and who is invited. What changes while a party plays (leader, lobby, who is ready) lies in the
-- summary of its head row, so that such a change costs no row of its own. Times are epoch milliseconds.

CREATE TABLE parties (
    id            text   PRIMARY KEY CHECK (length(id) = 36),
    -- Who made it, and was its first leader.
    founder_id    text   NOT NULL,
    created_at_ms bigint NOT NULL
);

-- The key keeps everybody in one party at most.
CREATE TABLE party_members (
    user_id      text   PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    party_id     text   NOT NULL REFERENCES parties ON DELETE CASCADE,
    joined_at_ms bigint NOT NULL
);

CREATE INDEX party_members_by_party ON party_members (party_id);

CREATE TABLE party_invites (
    party_id      text    NOT NULL REFERENCES parties ON DELETE CASCADE,
    target_id     text    NOT NULL REFERENCES users ON DELETE CASCADE,
    sender_id     text    NOT NULL,
    created_at_ms bigint  NOT NULL,
    expires_at_ms bigint  NOT NULL,
    -- Its time has passed; kept for a while, to tell the invitee so.
    lapsed        boolean NOT NULL DEFAULT false,
    PRIMARY KEY (party_id, target_id)
);

CREATE INDEX party_invites_by_target ON party_invites (target_id);
