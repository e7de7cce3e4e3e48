-- What users keep with us beside their own row, and those whom we have forgotten. Times are epoch milliseconds.

-- Launcher profiles that anybody may fetch who has the code.
CREATE TABLE profile_shares (
    code          text   PRIMARY KEY CHECK (length(code) = 14),
    user_id       text   NOT NULL REFERENCES users ON DELETE CASCADE,
    name          text   NOT NULL,
    -- The user's own JSON, opaque to us, as in users.ui_style.
    manifest      bytea  NOT NULL,
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL
);

CREATE INDEX profile_shares_by_user ON profile_shares (user_id, created_at_ms, code);
CREATE INDEX profile_shares_by_expiry ON profile_shares (expires_at_ms);

-- The game's options, kept in step between a user's machines.
CREATE TABLE minecraft_options (
    user_id       text   PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    options       bytea  NOT NULL,
    revision      bigint NOT NULL,
    updated_at_ms bigint NOT NULL
);

-- Experience that a user has gathered; who has none has no row.
CREATE TABLE experience (
    user_id  text   PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    total_xp bigint NOT NULL CHECK (total_xp >= 0)
);

CREATE INDEX users_supporters ON users (supporter_since_ms, id) WHERE supporter_tier IS NOT NULL;

-- Who was erased, and when: tokens issued before open nothing. Older messages lose the name one after another; until
-- that is done, swept is false.
CREATE TABLE erased_users (
    user_id      text    PRIMARY KEY CHECK (length(user_id) = 36),
    erased_at_ms bigint  NOT NULL,
    swept        boolean NOT NULL DEFAULT false
);

CREATE INDEX erased_users_unswept ON erased_users (erased_at_ms) WHERE NOT swept;

-- Both ends of what is between two users go with either of them.
CREATE INDEX friend_links_by_friend ON friend_links (friend_id);
CREATE INDEX flame_streaks_by_high ON flame_streaks (high_id);
