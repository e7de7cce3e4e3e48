-- Friendships, requests, reports and flame streaks. A friendship is two rows, one for each side, made and removed in one
-- transaction. Times are epoch milliseconds.

CREATE TABLE friend_links (
    user_id        text   NOT NULL REFERENCES users ON DELETE CASCADE,
    friend_id      text   NOT NULL REFERENCES users ON DELETE CASCADE,
    -- What user_id has chosen for this friend: whether it is a favourite, and what the friend sees of user_id.
    favorite       boolean NOT NULL DEFAULT false,
    visibility     text   NOT NULL DEFAULT 'DEFAULT' CHECK (visibility IN ('DEFAULT', 'LIMITED', 'HIDDEN')),
    note           text,
    -- When the request was sent, and when it was accepted.
    created_at_ms  bigint NOT NULL,
    accepted_at_ms bigint NOT NULL,
    updated_at_ms  bigint NOT NULL,
    PRIMARY KEY (user_id, friend_id),
    CHECK (user_id <> friend_id)
);

-- Who shows themselves differently to whom: few rows, read whole at the start.
CREATE INDEX friend_links_veiled ON friend_links (user_id, friend_id) WHERE visibility <> 'DEFAULT';

CREATE TABLE friend_requests (
    id            text   PRIMARY KEY CHECK (length(id) = 24),
    sender_id     text   NOT NULL REFERENCES users ON DELETE CASCADE,
    recipient_id  text   NOT NULL REFERENCES users ON DELETE CASCADE,
    note          text,
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL,
    UNIQUE (sender_id, recipient_id),
    CHECK (sender_id <> recipient_id)
);

CREATE INDEX friend_requests_by_recipient ON friend_requests (recipient_id);
CREATE INDEX friend_requests_by_expiry ON friend_requests (expires_at_ms);

-- Consecutive UTC days on which two were in touch both ways; days are counted from the epoch. low_id < high_id.
CREATE TABLE flame_streaks (
    low_id          text    NOT NULL REFERENCES users ON DELETE CASCADE,
    high_id         text    NOT NULL REFERENCES users ON DELETE CASCADE,
    -- The newest day on which each wrote to the other or shared a party with them.
    low_day         integer,
    high_day        integer,
    -- The run of days on which both did: first and last of it.
    first_day       integer,
    last_day        integer,
    last_contact_ms bigint  NOT NULL,
    PRIMARY KEY (low_id, high_id),
    CHECK (low_id < high_id)
);
