-- Notifications of users, and reports of users to the moderators. Times are epoch milliseconds.

-- Where a user's notifications stand, made with the first of them. Whoever writes notifications locks this row.
CREATE TABLE notification_heads (
    user_id text   PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    epoch   text   NOT NULL,
    -- The offset on the channel: +1 for each notification, and for each time that some were read.
    seq     bigint NOT NULL,
    -- Notifications so far, those that are gone too.
    added   bigint NOT NULL
) WITH (fillfactor = 80);

CREATE TABLE notifications (
    id            text   PRIMARY KEY CHECK (length(id) = 24),
    -- The head, not the user: whoever adds one holds the head's lock already, and takes no other.
    user_id       text   NOT NULL REFERENCES notification_heads ON DELETE CASCADE,
    -- Counts the user's notifications from 1.
    number        bigint NOT NULL,
    seq           bigint NOT NULL,
    kind          text   NOT NULL CHECK (kind IN (
        'friend_request', 'friend_accepted', 'party_invite', 'server_invite', 'cape_moderated', 'news')),
    actor_id      text,
    -- An encoded JSON object.
    data          bytea  NOT NULL,
    created_at_ms bigint NOT NULL,
    read_at_ms    bigint,
    -- The offset at which it was read, the same for all that were read at once.
    read_seq      bigint,
    UNIQUE (user_id, number),
    CHECK ((read_at_ms IS NULL) = (read_seq IS NULL))
) WITH (fillfactor = 80);

CREATE INDEX notifications_by_age ON notifications (created_at_ms);

CREATE TABLE reports (
    -- Reports of one millisecond need an order of their own, for the cursor.
    seq           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id            text   NOT NULL UNIQUE CHECK (length(id) = 24),
    -- Without foreign keys: what was reported outlives the users.
    reporter_id   text   NOT NULL,
    target_id     text   NOT NULL,
    reason        text,
    status        text   NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'dismissed', 'actioned')),
    created_at_ms bigint NOT NULL,
    settled_at_ms bigint,
    settled_by    text
);

CREATE INDEX reports_by_status ON reports (status, seq);
CREATE INDEX reports_by_reporter ON reports (reporter_id, created_at_ms);
